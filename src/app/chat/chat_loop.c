/* Ctrl-C: while an answer comes it stops the answer. With something typed it clears the line. At an
 * empty prompt a second one in a row leaves. */
#include "app/chat/chat_loop.h"

#include "app/chat/chat_command.h"
#include "app/cli/command.h"
#include "app/setup/files/state_file.h"
#include "app/terminal/history_file.h"
#include "app/terminal/line_reader.h"
#include "app/terminal/signals.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <errno.h>
#include <stdio.h>

#define HISTORY_NAME "chat_history"
#define PROMPT_BYTES 64

struct talks {
    struct chat *chat;
    struct line_reader *reader;
    char history[CHAT_PATH_BYTES]; /* "" = it is not kept */
    bool on_terminal;              /* somebody sits there */
    bool interrupted;              /* by Ctrl-C, and nothing was said since */
    int code;
};

/* --- history --- */

static void remember(void *ctx, struct td_str text)
{
    struct talks *talks = ctx;
    line_reader_remember(talks->reader, text);
}

static void give_up_history(struct talks *talks, const struct td_error *err)
{
    chat_say(talks->chat, "What you type is not kept for the next time: %s.", err->message);
    *talks->history = '\0';
}

static void open_history(struct talks *talks, const char *state_dir)
{
    struct td_error err = {0};
    if (!talks->on_terminal || !state_dir)
        return;
    enum td_status status =
        path_join(talks->history, sizeof talks->history, state_dir, HISTORY_NAME, &err);
    if (status == TD_OK)
        status = state_file_make_folders(talks->history, &err);
    if (status == TD_OK)
        status = history_file_read(talks->history, remember, talks, &err);
    if (status != TD_OK)
        give_up_history(talks, &err);
}

/* As the ledger does, the file keeps no text of the two highest classes. Of a text whose class is
 * not known, it keeps none. */
static void keep(struct talks *talks, struct td_str text, bool harmless)
{
    struct td_error err = {0};
    line_reader_remember(talks->reader, text);
    if (*talks->history && harmless && !talks->chat->conversation.is_private &&
        history_file_add(talks->history, text, &err) != TD_OK)
        give_up_history(talks, &err);
}

/* --- what was typed --- */

static void show_prompt(const struct talks *talks, char out[static PROMPT_BYTES])
{
    const struct chat *chat = talks->chat;
    const char *is_private = chat->conversation.is_private ? "private" : "";
    if (chat->attached_count)
        snprintf(out, PROMPT_BYTES, "%s[%u file%s]> ", is_private, chat->attached_count,
                 PLURAL(chat->attached_count));
    else
        snprintf(out, PROMPT_BYTES, "%s> ", is_private);
    if (talks->on_terminal)
        fputc('\n', stdout);
    fflush(stdout);
}

/* False: the user leaves. */
static bool take_text(struct talks *talks, struct td_str line)
{
    struct chat *chat = talks->chat;
    struct td_str text = str_trim(line);
    if (!text.len)
        return true;
    talks->interrupted = false;
    if (chat_command_is(line)) {
        enum command_outcome outcome = chat_command_run(chat, text);
        keep(talks, text, !str_starts_with(text, STR("/system")));
        if (!talks->on_terminal && outcome == COMMAND_FAILED)
            talks->code = CHAT_FAILED;
        return outcome != COMMAND_QUIT;
    }
    /* As a shell takes it: nobody means to ask a cloud this. A space before it sends it. */
    if (talks->on_terminal && line.data[0] != ' ' &&
        (str_equal(text, STR("exit")) || str_equal(text, STR("quit"))))
        return false;
    talks->code = chat_ask(chat, text);
    keep(talks, text,
         talks->code != CHAT_FAILED && chat->last_class >= 0 &&
             chat->last_class < TD_CLASS_CONTRACTUAL);
    if (talks->code == CHAT_STOPPED) {
        talks->interrupted = true;
        return talks->on_terminal && !signals_ended_by();
    }
    return true;
}

/* False: the user leaves. */
static bool take_interrupt(struct talks *talks, struct td_str typed)
{
    bool leaves = !talks->on_terminal || (talks->interrupted && !typed.len);
    if (!talks->on_terminal)
        talks->code = CHAT_STOPPED;
    if (!leaves && typed.len)
        line_reader_remember(talks->reader, typed);
    if (!leaves && !typed.len)
        chat_say(talks->chat, "Ctrl-C once more leaves, as Ctrl-D and /quit do.");
    talks->interrupted = !typed.len;
    return !leaves;
}

static bool take(struct talks *talks, enum line_outcome outcome, struct td_str text)
{
    switch (outcome) {
    case LINE_TEXT:
        return take_text(talks, text);
    case LINE_INTERRUPTED:
        return take_interrupt(talks, text);
    case LINE_ENDED:
    case LINE_KILLED:
        return false;
    case LINE_TOO_LONG:
        chat_say(talks->chat, "That is too long: a message may have %u bytes.", LINE_BYTES_MAX);
        break;
    case LINE_FAILED:
        chat_say(talks->chat, "Standard input cannot be read: %s.", strerror(errno));
        break;
    }
    talks->code = CHAT_FAILED;
    return outcome == LINE_TOO_LONG && talks->on_terminal;
}

static void run(struct talks *talks)
{
    char prompt[PROMPT_BYTES];
    struct buf line;
    enum line_outcome outcome;
    buf_init(&line, LINE_BYTES_MAX);
    do {
        show_prompt(talks, prompt);
        outcome = line_reader_next(talks->reader, prompt, &line);
    } while (take(talks, outcome, buf_view(&line)));
    buf_deinit(&line);
}

int chat_loop(struct chat *chat, const char *state_dir)
{
    struct td_error err = {0};
    struct talks talks = {.chat = chat};
    talks.on_terminal = chat->terminal.reads && chat->terminal.shows && !chat->json;
    if (line_reader_new(&chat->terminal, chat_command_complete, chat, &talks.reader, &err) !=
        TD_OK) {
        chat_say(chat, "%s", err.message);
        return CHAT_FAILED;
    }
    if ((talks.on_terminal || !chat->url) && chat_read_names(chat, &err) != TD_OK) {
        line_reader_free(talks.reader);
        return command_fail("chat", &err);
    }
    if (talks.on_terminal)
        chat_show_banner(chat);
    open_history(&talks, state_dir);
    run(&talks);
    line_reader_free(talks.reader);
    if (signals_ended_by())
        return 128 + signals_ended_by();
    return talks.on_terminal ? 0 : talks.code;
}
