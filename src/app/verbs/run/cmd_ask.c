/* tandem ask: one question for scripts and pipes. Only the answer is on standard output. Standard
 * input is part of the question where it is no terminal: `git diff | tandem ask "commit message"`.
 */
#define HELP_OF 63
#include "app/chat/chat.h"
#include "app/chat/chat_files.h"
#include "app/chat/chat_options.h"
#include "app/cli/command.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/terminal/signals.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* A larger text fits no model that is in use; the server takes requests of the same size. */
#define INPUT_BYTES_MAX (4u << 20)

/* A device, such as /dev/null, and what a service has instead of input, say nothing. */
static bool has_input(void)
{
    struct stat info;
    return fstat(STDIN_FILENO, &info) == 0 &&
           (S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode) || S_ISSOCK(info.st_mode));
}

static enum td_status check_text(struct td_str text, struct td_error *err)
{
    size_t valid = utf8_valid_prefix(text);
    const char *zero = text.len ? memchr(text.data, '\0', text.len) : NULL;
    size_t at = zero && (size_t)(zero - text.data) < valid ? (size_t)(zero - text.data) : valid;
    return at == text.len ? TD_OK
                          : error_set(err, TD_INVALID,
                                      "standard input is no text: byte %zu is not UTF-8. Only "
                                      "text can be asked about",
                                      at);
}

static enum td_status read_input(struct buf *out, struct td_error *err)
{
    char piece[16384];
    ssize_t got;
    while (!out->failed && (got = read(STDIN_FILENO, piece, sizeof piece)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, TD_IO, "standard input cannot be read: %s", strerror(errno));
        buf_append(out, piece, (size_t)got);
    }
    return out->failed ? error_set(err, TD_LIMIT,
                                   "standard input is too long: at most %u bytes can be asked "
                                   "about",
                                   INPUT_BYTES_MAX)
                       : check_text(buf_view(out), err);
}

/* The question, and below it what came from the pipe. TD_INVALID: there is neither. */
static enum td_status write_question(const char *text, struct buf *out, struct td_error *err)
{
    struct buf input;
    enum td_status status = TD_OK;
    buf_init(&input, INPUT_BYTES_MAX);
    if (has_input())
        status = read_input(&input, err);
    struct td_str question = str_trim(str_from(text));
    struct td_str more = str_trim(buf_view(&input));
    if (status == TD_OK && !question.len && !more.len)
        status = error_set(err, TD_INVALID, "there is no question");
    buf_append_str(out, question);
    if (question.len && more.len)
        buf_append_str(out, STR("\n\n"));
    if (more.len)
        buf_append_str(out, buf_view(&input));
    buf_deinit(&input);
    return status == TD_OK && out->failed
               ? error_set(err, TD_LIMIT, "the question is too long: at most %u bytes",
                           CONVERSATION_BYTES_MAX)
               : status;
}

/* In the conversation of a file, or in none (NULL). A stopped answer is kept as far as it came. */
static int ask_within(struct chat *chat, const char *session, struct td_str question)
{
    if (session && !chat_resume(chat, str_from(session)))
        return 1;
    int code = (int)chat_ask(chat, question);
    return session && code != CHAT_FAILED && !chat_save(chat, str_from(session)) ? 1 : code;
}

static int open_and_ask(struct chat *chat, const struct chat_options *options, const char *session,
                        struct td_str question)
{
    struct td_error err = {0};
    int code;
    if (chat_open(chat, &options->runtime, &err) != TD_OK) {
        code = command_fail_as("ask", &err, chat->json);
    } else {
        chat->conversation.is_private = options->is_private;
        code = ask_within(chat, session, question);
    }
    if (signals_ended_by())
        code = 128 + signals_ended_by();
    chat_close(chat);
    return code;
}

static int cmd_ask(int argc, char **argv)
{
    static struct chat chat; /* large for a stack; one a process */
    struct chat_options given = {.runtime = {.slots = 1, .arguments = argv}};
    const char *text[1] = {NULL}, *session = NULL;
    size_t count = 0;
    const struct option options[] = {
        {"session", 's', OPTION_TEXT, &session, "FILE",
         "go on with the conversation in FILE, and keep it there; without the file it begins", 0,
         0},
        CHAT_OPTION_ROWS(chat, given)};
    const struct option_spec spec = {
        .verb = "ask",
        .arguments = "[QUESTION]",
        .summary = HELP_TEXT(
            "Prints the answer to one question, and nothing else. What comes through a "
            "pipe or from a file is part of the question, below it. On a terminal, a line "
            "on standard error says who answered and what left. Exit status: 0 answered, 1 "
            "not answered, 2 used wrongly (also: no text on standard input), 130 stopped "
            "with Ctrl-C."),
        .example = HELP_TEXT("  tandem ask \"What is 12 percent of 80?\"\n"
                             "  git diff | tandem ask \"Write a commit message\"\n"
                             "  tandem ask --session trip.json \"And where is the next one?\""),
        .json = HELP_TEXT(
            "{\"text\", \"total_ms\", \"tandem\"}; \"tandem\" is the object of the API. When "
            "nothing answered: {\"ok\": false, \"error\"}."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, text, &count);
    chat.verb = "ask";
    chat.brief = true;
    int code = chat_options_apply(&given, &chat);
    if (code)
        return code;
    struct td_error err = {0};
    struct buf question;
    buf_init(&question, CONVERSATION_BYTES_MAX);
    enum td_status status = write_question(text[0], &question, &err);
    if (status == TD_OK)
        code = open_and_ask(&chat, &given, session, buf_view(&question));
    else if (status == TD_INVALID && !chat.json)
        code = options_misuse("ask", "%s", err.message);
    else
        code = command_fail_as("ask", &err, chat.json) + (status == TD_INVALID);
    buf_deinit(&question);
    return code;
}

const struct verb verb_ask = {"ask", cmd_ask,
                              HELP_TEXT("print the answer to one question, for pipes")};
