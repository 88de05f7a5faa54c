/* One table of commands: what runs, what /help says, and what Tab offers. */
#include "app/chat/chat_command.h"

#include "app/chat/chat_files.h"
#include "app/cli/command.h"
#include "app/cli/explanation.h"
#include "app/cli/help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "exchange/machine/exchange.h"
#include "ledger/record/ledger.h"
#include "router/plan/model_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FLUSH_TIMEOUT_MS 5000

static bool run_help(struct chat *chat, struct td_str text);

static bool run_model(struct chat *chat, struct td_str name)
{
    struct error_suggestion near = {""};
    const char *names[CHAT_NAMES_MAX];
    bool known = str_equal(name, STR("auto"));
    if (!name.len) {
        chat_show_models(chat);
        return true;
    }
    for (size_t i = 0; i < chat->name_count; i++) {
        names[i] = chat->names[i];
        known = known || str_equal(name, str_from(names[i]));
    }
    if (!known && (chat->name_count || name.len >= CHAT_NAME_BYTES)) {
        near = error_suggest(name, names, chat->name_count);
        chat_say(chat, "There is no '" STR_FMT "'%s%s /model lists the names.",
                 STR_ARG(str_slice(name, 0, 60)), near.text, *near.text ? "" : ".");
        return false;
    }
    snprintf(chat->model, sizeof chat->model, STR_FMT, STR_ARG(name));
    chat_say(chat, "From now on '%s' is asked.", chat->model);
    return true;
}

static bool run_mode(struct chat *chat, struct td_str name)
{
    enum td_mode mode = chat->request.mode;
    if (!name.len) {
        chat_say(chat,
                 "The mode is %s. Others: auto, only-local, prefer-local, prefer-cloud, "
                 "only-cloud.",
                 names_mode(mode));
        return true;
    }
    if (!names_mode_parse(name, &mode)) {
        struct error_suggestion near =
            error_suggest(name, names_modes, names_table_count(names_modes));
        chat_say(chat, "There is no mode '" STR_FMT "'%s%s", STR_ARG(str_slice(name, 0, 60)),
                 near.text, *near.text ? "" : ".");
        return false;
    }
    if (chat->conversation.is_private && mode != TD_MODE_ONLY_LOCAL) {
        chat_say(chat, "This conversation is private and stays on the device. '/private off' "
                       "begins another one.");
        return false;
    }
    chat->request.mode = mode;
    chat_say(chat, "The mode is %s from now on.", names_mode(mode));
    return true;
}

/* --- why --- */

/* Of this process's ledger: the exchange may still wait for its turn there. */
static enum td_status find_here(struct chat *chat, struct json **out, struct td_error *err)
{
    struct ledger *ledger = runtime_ledger(chat->runtime);
    if (!ledger)
        return error_set(err, TD_NOT_FOUND, "no ledger is kept");
    enum td_status status = ledger_flush(ledger, FLUSH_TIMEOUT_MS, err);
    return status == TD_OK
               ? explanation_read(runtime_config(chat->runtime), chat->last_exchange, out, err)
               : status;
}

static bool run_why(struct chat *chat, struct td_str text)
{
    struct td_error err = {0};
    struct json *record = NULL;
    (void)text;
    if (!*chat->last_exchange) {
        chat_say(chat, "Nothing has been asked yet.");
        return false;
    }
    enum td_status status = chat->url
                                ? explanation_fetch(chat->url, chat->last_exchange, &record, &err)
                                : find_here(chat, &record, &err);
    bool shown = status == TD_OK && explanation_show(record);
    if (!shown)
        chat_say(chat, "%s", status == TD_OK ? "no memory for the explanation" : err.message);
    json_free(record);
    return shown;
}

/* --- the conversation --- */

static bool run_clear(struct chat *chat, struct td_str text)
{
    (void)text;
    conversation_clear(&chat->conversation);
    buf_clear(&chat->attached);
    chat->attached_count = 0;
    *chat->saved_as = '\0';
    chat_say(chat, "A new conversation.%s",
             conversation_system(&chat->conversation).len ? " The system prompt stays." : "");
    return true;
}

static bool run_system(struct chat *chat, struct td_str text)
{
    struct td_error err = {0};
    struct td_str now = conversation_system(&chat->conversation);
    if (!text.len) {
        if (now.len)
            chat_say(chat, "System prompt: " STR_FMT "\n('/system off' takes it away.)",
                     STR_ARG(now));
        else
            chat_say(chat, "There is no system prompt. '/system TEXT' sets one.");
        return true;
    }
    bool off = str_equal(text, STR("off"));
    if (conversation_set_system(&chat->conversation, off ? STR("") : text, &err) != TD_OK) {
        chat_say(chat, "%s", err.message);
        return false;
    }
    chat_say(chat, off ? "There is no system prompt any more." : "The system prompt is set.");
    return true;
}

void chat_begin_private(struct chat *chat)
{
    if (!chat->conversation.is_private)
        chat->mode_before = chat->request.mode;
    chat->conversation.is_private = true;
    chat->request.mode = TD_MODE_ONLY_LOCAL;
    chat_say(chat, "Private: nothing of this conversation leaves %s%s.",
             chat->url ? "the server" : "the device",
             chat->url ? "" : ", and none of its text is kept");
}

static bool run_private(struct chat *chat, struct td_str text)
{
    bool off = str_equal(text, STR("off"));
    if (text.len && !off && !str_equal(text, STR("on"))) {
        chat_say(chat, "/private is on or off.");
        return false;
    }
    if (!off) {
        chat_begin_private(chat);
        return true;
    }
    if (!chat->conversation.is_private) {
        chat_say(chat, "This conversation is not private.");
        return true;
    }
    conversation_clear(&chat->conversation);
    chat->conversation.is_private = false;
    chat->request.mode = chat->mode_before;
    buf_clear(&chat->attached);
    chat->attached_count = 0;
    chat_say(chat, "A new conversation, not private. What was said before is gone, so that it "
                   "stays where it was.");
    return true;
}

static bool run_cost(struct chat *chat, struct td_str text)
{
    (void)text;
    chat_show_cost(chat);
    return true;
}

/* --- the table --- */

enum argument { ARGUMENT_NONE, ARGUMENT_NAME, ARGUMENT_MODE, ARGUMENT_PATH, ARGUMENT_SWITCH };

static const struct chat_command {
    const char *name, *also; /* another name, or NULL */
    const char *argument;    /* as /help shows it; "" = takes none */
    const char *help;
    bool (*run)(struct chat *chat, struct td_str text); /* NULL: leaves */
    enum argument completes;
} commands[] = {
    {"/help", "/?", "", "this list", run_help, ARGUMENT_NONE},
    {"/model", NULL, "[NAME]", "what is asked: auto, a route, a tier or a model", run_model,
     ARGUMENT_NAME},
    {"/mode", NULL, "[MODE]", "how far a question may go: auto, only-local, prefer-cloud, ...",
     run_mode, ARGUMENT_MODE},
    {"/why", NULL, "", "why the last question was answered where it was", run_why, ARGUMENT_NONE},
    {"/clear", "/new", "", "begin a new conversation", run_clear, ARGUMENT_NONE},
    {"/system", NULL, "[TEXT|off]", "how the model is to behave", run_system, ARGUMENT_NONE},
    {"/attach", NULL, "[FILE]", "send a text file with the next message", chat_attach,
     ARGUMENT_PATH},
    {"/save", NULL, "FILE", "keep the conversation in a file", chat_save, ARGUMENT_PATH},
    {"/load", NULL, "FILE", "go on with a saved conversation", chat_load, ARGUMENT_PATH},
    {"/private", NULL, "[on|off]", "nothing of this conversation leaves", run_private,
     ARGUMENT_SWITCH},
    {"/cost", NULL, "", "what the answers cost, and what left", run_cost, ARGUMENT_NONE},
    {"/quit", "/exit", "", "leave", NULL, ARGUMENT_NONE},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static bool run_help(struct chat *chat, struct td_str text)
{
    struct buf list;
    (void)chat;
    (void)text;
    buf_init(&list, 8192);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char left[48];
        snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].argument);
        /* In a narrow terminal the meaning stands below. */
        buf_printf(&list, terminal_columns(STDOUT_FILENO) < 60 ? "%s\n  %s\n" : "%-21s%s\n", left,
                   commands[i].help);
    }
    buf_append_str(&list, STR("Several lines: paste them, press Alt-Enter, or end a line with a "
                              "backslash. A space before a slash sends the text to the model. Up "
                              "and Down bring back what was typed, Tab completes commands."));
    word_wrap_print(stdout, terminal_columns(STDOUT_FILENO), buf_view(&list));
    buf_deinit(&list);
    return true;
}

bool chat_command_is(struct td_str line)
{
    return str_starts_with(line, STR("/"));
}

static struct td_str first_word(struct td_str line)
{
    size_t end = 0;
    while (end < line.len && line.data[end] != ' ' && line.data[end] != '\n' &&
           line.data[end] != '\t')
        end++;
    return str_slice(line, 0, end);
}

static const struct chat_command *find(struct td_str name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (str_equal(name, str_from(commands[i].name)) ||
            (commands[i].also && str_equal(name, str_from(commands[i].also))))
            return &commands[i];
    return NULL;
}

static void refuse(const struct chat *chat, struct td_str name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    struct error_suggestion near = error_suggest(name, names, COMMAND_COUNT);
    chat_say(chat,
             "There is no command '" STR_FMT "'%s%s Nothing was sent. /help lists the commands; a "
             "space before the slash sends the text to the model.",
             STR_ARG(str_slice(name, 0, 40)), near.text, *near.text ? "" : ".");
}

enum command_outcome chat_command_run(struct chat *chat, struct td_str line)
{
    struct td_str name = first_word(line);
    struct td_str text = str_trim(str_slice(line, name.len, line.len));
    const struct chat_command *command = find(name);
    if (!command) {
        refuse(chat, name);
        return COMMAND_FAILED;
    }
    if (text.len && !*command->argument) {
        chat_say(chat, "%s takes nothing after it. Nothing was sent.", command->name);
        return COMMAND_FAILED;
    }
    if (!command->run)
        return COMMAND_QUIT;
    return command->run(chat, text) ? COMMAND_DONE : COMMAND_FAILED;
}

/* --- completing --- */

static void offer(struct completions *out, struct td_str begin, const char *item)
{
    if (out->count < COMPLETIONS_MAX && str_starts_with(str_from(item), begin))
        snprintf(out->items[out->count++], sizeof out->items[0], "%s", item);
}

void chat_command_complete(void *ctx, struct td_str before, struct completions *out)
{
    const struct chat *chat = ctx;
    struct td_str name = first_word(before);
    if (!chat_command_is(before))
        return;
    if (name.len == before.len) {
        out->replaced = before.len;
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            offer(out, before, commands[i].name);
        return;
    }
    const struct chat_command *command = find(name);
    struct td_str begin = str_slice(before, name.len + 1, before.len);
    if (!command)
        return;
    out->replaced = begin.len;
    if (command->completes == ARGUMENT_PATH)
        chat_complete_path(begin, out);
    for (size_t i = 0; command->completes == ARGUMENT_NAME && i < chat->name_count; i++)
        offer(out, begin, chat->names[i]);
    for (size_t i = 0; command->completes == ARGUMENT_MODE && names_modes[i]; i++)
        offer(out, begin, names_modes[i]);
    if (command->completes == ARGUMENT_SWITCH) {
        offer(out, begin, "on");
        offer(out, begin, "off");
    }
}
