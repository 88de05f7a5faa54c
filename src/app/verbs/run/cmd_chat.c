/* tandem chat: a conversation in the terminal, or line by line from a pipe. What it does is in
 * app/chat/. */
#define HELP_OF 64
#include "app/chat/chat.h"
#include "app/chat/chat_loop.h"
#include "app/chat/chat_options.h"
#include "app/cli/command.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "base/core/str.h"

/* The folder of the history, or NULL. Beside a server's URL there is no runtime that has read the
 * configuration; one that cannot be read is no reason not to talk to the server. */
static const char *state_dir(const struct chat *chat, const char *path, struct config **own)
{
    struct td_error ignored = {0};
    const struct config *config = chat->runtime ? runtime_config(chat->runtime) : NULL;
    if (!config && config_load(path, own, &ignored) == TD_OK)
        config = *own;
    return config && !config->privacy.zero_retention ? config->state_dir : NULL;
}

static int open_and_talk(struct chat *chat, const struct chat_options *options, const char *text)
{
    struct td_error err = {0};
    struct config *own = NULL;
    int code;
    if (chat_open(chat, &options->runtime, &err) != TD_OK) {
        code = command_fail_as("chat", &err, chat->json);
    } else {
        chat->conversation.is_private = options->is_private;
        code = text ? (int)chat_ask(chat, str_from(text))
                    : chat_loop(chat, state_dir(chat, options->runtime.config_path, &own));
    }
    config_free(own);
    chat_close(chat);
    return code;
}

static int cmd_chat(int argc, char **argv)
{
    static struct chat chat; /* large for a stack; one a process */
    struct chat_options given = {.runtime = {.slots = 1, .arguments = argv}};
    const char *text[1] = {NULL};
    size_t count = 0;
    const struct option options[] = {CHAT_OPTION_ROWS(chat, given)};
    const struct option_spec spec = {
        .verb = "chat",
        .arguments = "[TEXT]",
        .summary = HELP_TEXT(
            "A conversation. Questions are routed as the server routes them; after each "
            "answer a line says who gave it, and what it cost and sent elsewhere. In the "
            "terminal /help lists the commands. Without a terminal every line of the input "
            "is a question. With TEXT only that is asked."),
        .example = HELP_TEXT("  tandem chat\n  tandem chat \"Set a timer for ten minutes\""),
        .json = HELP_TEXT(
            "{\"text\", \"total_ms\", \"tandem\"} for each answer, in a line. \"tandem\" is "
            "the object of the API."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, text, &count);
    chat.verb = "chat";
    int code = chat_options_apply(&given, &chat);
    return code ? code : open_and_talk(&chat, &given, text[0]);
}

const struct verb verb_chat = {"chat", cmd_chat, HELP_TEXT("talk to the models in the terminal")};
