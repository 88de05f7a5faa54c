/* Opening, asking, closing. What is shown is in chat_show.c, commands are in chat_command.c. */
#include "app/chat/chat.h"

#include "app/cli/command.h"
#include "app/terminal/signals.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/time/log.h"
#include "net/client/loop_event.h"

#include <stdio.h>
#include <unistd.h>

enum td_status chat_open(struct chat *chat, const struct runtime_options *options,
                         struct td_error *err)
{
    enum td_status status = TD_OK;
    conversation_init(&chat->conversation);
    buf_init(&chat->attached, CHAT_ATTACHED_BYTES_MAX);
    chat->last_class = -1;
    terminal_look(&chat->terminal);
    if (!chat->url) {
        status = runtime_open(options, &chat->runtime, err);
        log_set_level(LOG_LEVEL_ERROR); /* the line after the answer says what matters */
        if (status == TD_OK)
            status = loop_event_new(&chat->loop, err);
    }
    return status == TD_OK ? signals_install(err) : status;
}

void chat_close(struct chat *chat)
{
    conversation_deinit(&chat->conversation);
    buf_deinit(&chat->attached);
    if (chat->loop)
        loop_event_free(chat->loop);
    runtime_close(chat->runtime);
    terminal_restore();
}

/* --- showing an answer --- */

static void write_answer(void *ctx, struct td_str text)
{
    (void)ctx;
    if (fwrite(text.data, 1, text.len, stdout) != text.len)
        signals_interrupt(); /* nobody reads: the rest need not be written, nor paid for */
}

/* A sign that somebody works on it: a cloud may think for a while. */
static void show_waiting(struct chat *chat)
{
    chat->waits = chat->terminal.edits && !chat->json;
    if (chat->waits)
        fputs(chat->terminal.colours ? "\033[2m...\033[0m" : "...", stdout);
    fflush(stdout);
}

static void hide_waiting(struct chat *chat)
{
    if (chat->waits)
        fputs("\r\033[K", stdout);
    chat->waits = false;
}

static void show_text(void *ctx, struct td_str text)
{
    struct chat *chat = ctx;
    hide_waiting(chat);
    if (chat->terminal.shows)
        chat->wrap.columns = terminal_columns(STDOUT_FILENO);
    word_wrap_add(&chat->wrap, text);
    if (fflush(stdout) != 0)
        signals_interrupt();
}

static bool show_json(const struct talk_answer *answer)
{
    struct json *object = json_new_object();
    json_put(object, "text", json_new_text(buf_view(&answer->text)));
    json_put(object, "total_ms", json_new_double(answer->total_ms));
    if (answer->stopped)
        json_put(object, "stopped", json_new_bool(true));
    json_put(object, "tandem", answer->tandem ? json_clone(answer->tandem) : json_new_null());
    return command_print_json(object);
}

/* --- asking --- */

static enum td_status talk(struct chat *chat, struct talk_answer *answer, struct td_error *err)
{
    chat->request.messages =
        conversation_messages(&chat->conversation, &chat->request.message_count);
    chat->request.model = *chat->model ? chat->model : NULL;
    chat->request.keep_nothing = chat->conversation.is_private;
    return chat->url ? talk_remote(chat->url, &chat->request, answer, err)
                     : talk_local(chat->runtime, chat->loop, &chat->request, answer, err);
}

static void add_up(struct chat *chat, const struct talk_answer *answer)
{
    const struct json *tandem = answer->tandem;
    enum td_data_class data_class;
    chat->totals.answers += !answer->stopped;
    chat->totals.stopped += answer->stopped;
    chat->totals.cost_usd += json_number(json_get(tandem, "cost_usd"), 0);
    chat->totals.all_cloud_cost_usd += json_number(json_get(tandem, "all_cloud_cost_usd"), 0);
    chat->totals.egress_bytes += (uint64_t)json_int(json_get(tandem, "egress_bytes"), 0);
    const char *id = json_cstr(json_get(tandem, "exchange"));
    if (id)
        snprintf(chat->last_exchange, sizeof chat->last_exchange, "%s", id);
    chat->last_class = -1;
    if (names_class_parse(json_text(json_get(tandem, "data_class")), &data_class))
        chat->last_class = data_class;
}

/* The question with the files before it. */
static enum td_status add_question(struct chat *chat, struct td_str text, struct td_error *err)
{
    struct buf whole;
    buf_init(&whole, CONVERSATION_BYTES_MAX);
    buf_append_str(&whole, buf_view(&chat->attached));
    buf_append_str(&whole, text);
    enum td_status status =
        whole.failed ? error_set(err, TD_LIMIT, "the message is too long: more than %u bytes",
                                 CONVERSATION_BYTES_MAX)
                     : conversation_add(&chat->conversation, TD_ROLE_USER, buf_view(&whole), err);
    buf_deinit(&whole);
    return status;
}

/* What was asked and answered stays; what has no answer would confuse the next question. */
static void keep_answer(struct chat *chat, enum td_status status, const struct talk_answer *answer)
{
    struct td_error ignored = {0};
    bool said = status == TD_OK && (answer->text.len > 0 || !answer->stopped);
    if (!said || conversation_add(&chat->conversation, TD_ROLE_ASSISTANT, buf_view(&answer->text),
                                  &ignored) != TD_OK)
        conversation_drop_last(&chat->conversation);
    if (status == TD_OK) {
        buf_clear(&chat->attached);
        chat->attached_count = 0;
    }
}

static enum chat_code show_end(struct chat *chat, enum td_status status, struct talk_answer *answer,
                               const struct td_error *err)
{
    if (status != TD_OK) {
        command_fail_as(chat->verb, err, chat->json);
        return CHAT_FAILED;
    }
    if (chat->json && !show_json(answer))
        return CHAT_FAILED;
    if (!chat->json)
        chat_show_footer(chat, answer);
    return answer->stopped ? CHAT_STOPPED : CHAT_ANSWERED;
}

enum chat_code chat_ask(struct chat *chat, struct td_str text)
{
    struct td_error err = {0};
    struct talk_answer answer;
    talk_answer_init(&answer);
    chat->wrap.columns = terminal_columns(STDOUT_FILENO);
    chat->wrap.write = write_answer;
    word_wrap_init(&chat->wrap);
    answer.ctx = chat;
    if (!chat->json)
        answer.on_text = show_text;
    enum td_status status = add_question(chat, text, &err);
    if (status == TD_OK) {
        terminal_quiet();
        show_waiting(chat);
        status = talk(chat, &answer, &err);
        hide_waiting(chat);
        terminal_restore();
        keep_answer(chat, status, &answer);
        add_up(chat, &answer);
    }
    word_wrap_end(&chat->wrap);
    fflush(stdout); /* before anything is said on standard error */
    enum chat_code code = show_end(chat, status, &answer, &err);
    word_wrap_deinit(&chat->wrap);
    talk_answer_deinit(&answer);
    return code;
}
