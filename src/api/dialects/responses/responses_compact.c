/* The summary is asked for as one more message of the user's. So the tier reads the conversation as
 * it read it before, and a prompt that it has in its cache stays there. */
#include "api/dialects/responses/responses_compact.h"

#include "api/dialects/chat_build.h"
#include "api/dialects/responses/responses_items.h"
#include "api/dialects/responses/responses_request.h"
#include "api/dialects/responses/responses_response.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"

#include <stdio.h>
#include <stdlib.h>

#define LABEL_BYTES_MAX 128
/* Marks the message of an opened compaction: a later summary has it in itself. */
#define MARK "tandem_summary"

static const char task[] =
    "Write a summary of this conversation that replaces it: you will go on from the summary alone. "
    "Keep what the user wants and how; what was decided and why; names, numbers, paths, code and "
    "errors that still matter; what is done, what is left, and the next step. Do not answer the "
    "last message and call no tools. Write the summary only.";
static const char opening[] = "Summary of the conversation so far:\n\n";

/* A compaction belongs to its caller. */
static struct td_str label_of(const char *caller, char label[static LABEL_BYTES_MAX])
{
    int len = snprintf(label, LABEL_BYTES_MAX, "tandem compaction 1 %s", caller ? caller : "");
    return str_slice((struct td_str){label, (size_t)len}, 0, LABEL_BYTES_MAX - 1);
}

/* --- in a request --- */

bool responses_compact_is(const struct json *item)
{
    struct td_str type = json_get_text(item, "type");
    return str_equal(type, STR("compaction")) || str_equal(type, STR("compaction_summary"));
}

/* **returns new** *out (json_free). False: it is none of this caller's. */
static bool unseal(const struct responses_history *from, struct td_str hex, struct json **out)
{
    char label[LABEL_BYTES_MAX];
    struct buf text;
    size_t len = hex.len / 2;
    uint8_t *sealed = from->key && len > 0 ? malloc(len) : NULL;
    bool ok = sealed && crypto_unhex(hex, sealed, len);
    buf_init(&text, len + 1);
    *out = NULL;
    ok = ok &&
         keyed_open(from->key, label_of(from->caller, label),
                    (struct td_str){(const char *)sealed, len}, &text, NULL) == TD_OK &&
         json_parse(buf_view(&text), out, NULL) == TD_OK;
    free(sealed);
    buf_deinit(&text);
    return ok;
}

static enum td_data_class class_of(const struct json *sealed, const char *name)
{
    enum td_data_class data_class = TD_CLASS_RESTRICTED;
    (void)names_class_parse(json_get_text(sealed, name), &data_class);
    return data_class;
}

bool responses_compact_open(const struct responses_history *from, const struct json *item,
                            const char *place, struct history_class *data_class, struct buf *out,
                            struct fault *fault)
{
    struct td_str hex;
    struct json *sealed;
    struct buf text;
    char at[CHAT_BUILD_PLACE_BYTES];
    if (!chat_build_text(item, place, "encrypted_content", &hex, fault))
        return false;
    chat_build_place(at, "%s.encrypted_content", place);
    if (!unseal(from, hex, &sealed))
        return fault_request(fault, at,
                             "%s is no compaction that this server has made for this key: send the "
                             "conversation itself",
                             at);
    struct td_str summary = json_get_text(sealed, "summary");
    const struct history_class of = {.declared = class_of(sealed, "declared"),
                                     .seen = class_of(sealed, "seen")};
    history_class_raise(data_class, &of);
    buf_init(&text, sizeof opening + summary.len);
    buf_append_str(&text, STR(opening));
    buf_append_str(&text, summary);
    buf_append_str(out,
                   STR("{\"type\":\"message\",\"role\":\"user\",\"" MARK "\":true,\"content\":"));
    json_write_text(buf_view(&text), out);
    buf_append_char(out, '}');
    out->failed |= text.failed;
    buf_deinit(&text);
    json_free(sealed);
    return true;
}

/* --- the request for one --- */

/* Nothing is kept of it: the client has all of it. */
static bool recall(const struct responses_history *from, const struct json *asked,
                   struct history_turn *turn, struct json **whole, size_t *earlier,
                   struct fault *fault)
{
    if (!from->key)
        return chat_build_unsupported(fault, "input", "this server makes no compactions");
    if (!responses_history_read(from, asked, turn, whole, earlier, fault))
        return false;
    responses_history_deinit(turn);
    turn->store = turn->background = false;
    *turn->conversation = '\0';
    return true;
}

static struct json *translate(const struct json *body, struct fault *fault)
{
    static const char *const useless[] = {"stream",      "stream_options",      "tools",
                                          "tool_choice", "parallel_tool_calls", "response_format",
                                          "logprobs",    "top_logprobs",        NULL};
    struct json *chat = responses_request_translate(body, fault);
    if (!chat)
        return NULL;
    for (size_t i = 0; useless[i]; i++)
        json_remove(chat, useless[i]);
    struct json *message = json_new_object(), *messages = json_clone(json_get(chat, "messages"));
    json_put(message, "role", json_new_cstr("user"));
    json_put(message, "content", json_new_cstr(task));
    json_push(messages, message);
    json_put(chat, "messages", messages);
    return chat;
}

static bool is_of_user(const struct json *item)
{
    return str_equal(json_get_text(item, "role"), STR("user")) && json_absent(json_get(item, MARK));
}

/* The user's messages as they came: they go on beside the summary. */
static bool finish_request(const struct json *asked, struct arena *arena, struct chat_request *out,
                           struct fault *fault)
{
    const struct json *input = json_get(asked, "input");
    struct buf items;
    buf_init(&items, SIZE_MAX / 2);
    buf_append_char(&items, '[');
    if (json_kind_of(input) == JSON_KIND_TEXT) {
        buf_append_str(&items, STR("{\"role\":\"user\",\"content\":"));
        json_write(input, &items);
        buf_append_char(&items, '}');
    }
    for (size_t i = 0; i < json_count(input); i++) {
        if (!is_of_user(json_at(input, i)))
            continue;
        if (items.len > 1) /* after the bracket */
            buf_append_char(&items, ',');
        json_write(json_at(input, i), &items);
    }
    buf_append_char(&items, ']');
    char *copy = items.failed ? NULL : arena_copy(arena, buf_view(&items));
    out->user_items = (struct td_str){copy, copy ? items.len : 0};
    buf_deinit(&items);
    if (!copy)
        fault_request(fault, "input", "the user's own messages are larger than a request may be");
    return copy != NULL;
}

/* --- the answer --- */

static bool seal(const struct dialect_reply *reply, const struct exchange_summary *summary,
                 struct buf *out)
{
    const struct td_request *request = &reply->request->td;
    enum td_data_class seen = request->class_before;
    char label[LABEL_BYTES_MAX];
    struct buf text, sealed;
    buf_init(&text, 6 * reply->answer.content.len + 256);
    buf_init(&sealed, 6 * reply->answer.content.len + 512);
    if (summary->data_class > seen)
        seen = summary->data_class;
    buf_printf(&text, "{\"declared\":\"%s\",\"seen\":\"%s\",\"summary\":",
               names_class(request->data_class), names_class(seen));
    json_write_text(buf_view(&reply->answer.content), &text);
    buf_append_char(&text, '}');
    bool ok = !text.failed && keyed_seal(reply->request->turn.key, label_of(request->caller, label),
                                         buf_view(&text), &sealed, NULL) == TD_OK;
    char *hex = ok ? malloc(2 * sealed.len + 1) : NULL;
    if (hex) {
        crypto_hex((const uint8_t *)sealed.data, sealed.len, hex);
        buf_append_str(out, (struct td_str){hex, 2 * sealed.len});
    }
    free(hex);
    buf_deinit(&text);
    buf_deinit(&sealed);
    return hex != NULL;
}

/* A summary that is not one would lose the conversation, so a tier that only stands in writes
 * none. */
static bool is_summary(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       struct fault *fault)
{
    if (reply->answer.content.len > 0 && !summary->degraded)
        return true;
    fault_set(fault, 503, "server_error", "no_summary",
              "no tier could write a summary, so the conversation has to go on as it is. %.600s",
              summary->disclosure ? summary->disclosure : "");
    return false;
}

static bool write_user_items(const struct dialect_reply *reply, struct buf *out)
{
    char owner[RESPONSE_ID_BYTES + 8];
    struct json *items;
    if (json_parse(reply->request->user_items, &items, NULL) != TD_OK)
        return false;
    snprintf(owner, sizeof owner, "resp_%s", reply->writer.id);
    for (size_t i = 0; i < json_count(items); i++) {
        const struct responses_item_place place = {.owner = str_from(owner), .index = i};
        struct json *shown = responses_items_show(json_at(items, i), &place);
        json_write(shown, out);
        buf_append_char(out, ',');
        json_free(shown);
    }
    json_free(items);
    return true;
}

static bool write_answer(const struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    const struct response_writer *writer = &reply->writer;
    if (!is_summary(reply, summary, fault))
        return false;
    buf_printf(out,
               "{\"id\":\"resp_%s\",\"object\":\"response.compaction\",\"created_at\":%lld,"
               "\"output\":[",
               writer->id, (long long)writer->created);
    if (!write_user_items(reply, out))
        return false;
    buf_printf(out, "{\"id\":\"cmp_%s\",\"type\":\"compaction\",\"encrypted_content\":\"",
               writer->id);
    bool sealed = seal(reply, summary, out);
    buf_append_str(out, STR("\"}],\"usage\":"));
    responses_response_write_usage(&reply->answer, &summary->usage, out);
    buf_append_str(out, STR(",\"tandem\":"));
    response_write_tandem(writer, summary, out);
    buf_append_char(out, '}');
    return sealed && !out->failed && !response_answer_failed(&reply->answer);
}

const struct dialect dialect_responses_compact = {
    .form = &event_form_openai, /* it never streams */
    .names = responses_names,
    .recall = recall,
    .translate = translate,
    .finish_request = finish_request,
    .list_left_out = responses_request_list_left_out,
    .write_answer = write_answer,
};
