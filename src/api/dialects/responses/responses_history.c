/* A response keeps only what it added, so a conversation of many turns takes memory once. Its
 * earlier turns are found by walking back from one response to the one before. */
#include "api/dialects/responses/responses_history.h"

#include "api/dialects/chat_build.h"
#include "api/dialects/responses/responses_compact.h"
#include "api/dialects/responses/responses_items.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>

#define TURNS_MAX OPENAI_MESSAGES_MAX
/* Names in messages are cut: they may be as long as a request. */
#define SHOWN_BYTES 100

struct responses_history responses_history_of(const struct api *api)
{
    return (struct responses_history){.history = api->host->history,
                                      .caller = api->who.caller,
                                      .bytes_max = api->host->arena_bytes_max / 4,
                                      .key = api->host->key};
}

/* What was not found may be there. */
static bool fault_away(const struct responses_history *from, struct fault *fault)
{
    if (!history_is_away(from->history))
        return false;
    fault_from_status(fault, TD_UNAVAILABLE, HISTORY_AWAY, NULL);
    return true;
}

static bool fault_previous(const struct responses_history *from, struct fault *fault,
                           struct td_str id)
{
    if (fault_away(from, fault))
        return false;
    fault_set(fault, 400, "invalid_request_error", "previous_response_not_found",
              "Previous response with id '" STR_FMT "' not found.",
              STR_ARG(str_slice(id, 0, SHOWN_BYTES)));
    memcpy(fault->param, "previous_response_id", sizeof "previous_response_id");
    return false;
}

static bool fault_absent(const struct responses_history *from, struct fault *fault,
                         const char *what, const char *param, struct td_str id)
{
    if (fault_away(from, fault))
        return false;
    fault_set(fault, 404, "invalid_request_error", NULL, "%s with id '" STR_FMT "' not found.",
              what, STR_ARG(str_slice(id, 0, SHOWN_BYTES)));
    chat_build_place(fault->param, "%s", param);
    return false;
}

/* --- earlier turns --- */

/* From the newest back to the first. */
struct chain {
    struct history_found *turns; /* [count] */
    char (*ids)[HISTORY_ID_BYTES];
    size_t count, bytes;
};

static void chain_deinit(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        history_found_deinit(&chain->turns[i]);
    free(chain->turns);
    free(chain->ids);
}

static bool chain_grow(struct chain *chain)
{
    if (chain->count & (chain->count - 1)) /* it has room up to the next power of two */
        return true;
    size_t room = chain->count ? 2 * chain->count : 1;
    void *turns = realloc(chain->turns, room * sizeof *chain->turns);
    if (turns)
        chain->turns = turns;
    void *ids = turns ? realloc(chain->ids, room * sizeof *chain->ids) : NULL;
    if (ids)
        chain->ids = ids;
    return ids != NULL;
}

/* **takes** the turn, where it has room. */
static bool chain_add(const struct responses_history *from, const char *id,
                      struct history_found *turn, struct chain *chain, struct fault *fault)
{
    if (chain->count == TURNS_MAX || chain->bytes > from->bytes_max)
        return fault_request(fault, "previous_response_id",
                             "what went before is larger than a request may be");
    if (!chain_grow(chain))
        return fault_no_memory(fault);
    memcpy(chain->ids[chain->count], id, HISTORY_ID_BYTES);
    struct history_found *own = &chain->turns[chain->count++];
    *own = *turn;
    *turn = (struct history_found){.state = HISTORY_DONE};
    for (size_t i = 0; i < own->list_count; i++)
        chain->bytes += history_text_view(own->lists[i]).len;
    return own->state != HISTORY_RUNNING ||
           fault_request(fault, "previous_response_id",
                         "the response is not complete yet: wait for it, or cancel it");
}

static bool chain_read(const struct responses_history *from, struct td_str id, struct chain *chain,
                       struct fault *fault)
{
    char name[HISTORY_ID_BYTES]; /* a copy, because the turns move as they become more */
    struct history_run *run = malloc(sizeof *run);
    bool ok = run || fault_no_memory(fault);
    while (ok && id.len > 0) {
        if (id.len >= sizeof name || !history_find_run(from->history, from->caller, id, run)) {
            ok = fault_previous(from, fault, id);
            break;
        }
        for (size_t i = 0; ok && i < run->count; i++)
            ok = chain_add(from, run->ids[i], &run->found[i], chain, fault);
        history_run_deinit(run);
        if (ok)
            snprintf(name, sizeof name, "%s", chain->turns[chain->count - 1].previous);
        id = str_from(ok ? name : "");
    }
    free(run);
    return ok;
}

static bool append_previous(const struct responses_history *from, struct td_str id,
                            struct history_turn *turn, struct buf *out, struct fault *fault)
{
    struct chain chain = {.count = 0};
    if (!from->history || !str_starts_with(id, STR("resp_")))
        return fault_previous(from, fault, id);
    bool ok = chain_read(from, id, &chain, fault);
    for (size_t i = chain.count; ok && i-- > 0;) {
        history_class_raise(&turn->data_class, &chain.turns[i].data_class);
        for (size_t list = 0; list < chain.turns[i].list_count; list++)
            responses_items_append(chain.turns[i].lists[list], out);
    }
    chain_deinit(&chain);
    if (ok)
        memcpy(turn->previous, id.data, id.len); /* the rest is zero */
    return ok;
}

static bool append_conversation(const struct responses_history *from, struct td_str id,
                                struct history_turn *turn, struct buf *out, struct fault *fault)
{
    struct history_found found;
    if (!from->history || id.len >= HISTORY_ID_BYTES || !str_starts_with(id, STR("conv_")) ||
        !history_find(from->history, from->caller, id, &found))
        return fault_absent(from, fault, "Conversation", "conversation", id);
    history_class_raise(&turn->data_class, &found.data_class);
    for (size_t i = 0; i < found.list_count; i++)
        responses_items_append(found.lists[i], out);
    history_found_deinit(&found);
    memcpy(turn->conversation, id.data, id.len);
    return true;
}

/* --- the request's own --- */

static bool append_item(const struct responses_history *from, const struct json *item,
                        const char *place, struct history_class *data_class, struct buf *out,
                        struct fault *fault)
{
    char at[CHAT_BUILD_PLACE_BYTES];
    if (out->len > 1) /* after the bracket */
        buf_append_char(out, ',');
    if (responses_compact_is(item))
        return responses_compact_open(from, item, place, data_class, out, fault);
    if (!responses_items_is_reference(item)) {
        json_write(item, out);
        return true;
    }
    const struct json *id = json_get(item, "id");
    chat_build_place(at, "%s.id", place);
    if (json_kind_of(id) != JSON_KIND_TEXT)
        return fault_request(fault, at, "%s must be a string", at);
    return responses_items_find(from->history, from->caller, json_text(id), data_class, out) ||
           fault_absent(from, fault, "Item", "input", json_text(id));
}

static struct history_text *text_of(struct buf *buf, struct fault *fault)
{
    struct history_text *text = buf->failed ? NULL : history_text_new(buf_view(buf));
    if (!text)
        fault_no_memory(fault);
    return text;
}

struct history_text *responses_history_copy(const struct responses_history *from,
                                            const struct json *items, const char *place,
                                            struct history_class *data_class, struct fault *fault)
{
    struct history_text *text = NULL;
    struct buf list;
    bool ok = true;
    /* The own items are no larger than their request; references may add as much as history may. */
    buf_init(&list, 4 * from->bytes_max + 65536);
    buf_append_char(&list, '[');
    for (size_t i = 0; ok && !list.failed && i < json_count(items); i++) {
        char at[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(at, "%s[%zu]", place, i);
        ok = append_item(from, json_at(items, i), at, data_class, &list, fault);
    }
    buf_append_char(&list, ']');
    if (ok)
        text = text_of(&list, fault);
    buf_deinit(&list);
    return text;
}

static struct history_text *copy_text(const struct json *input, struct fault *fault)
{
    struct buf list;
    buf_init(&list, SIZE_MAX / 2);
    buf_append_str(&list, STR("[{\"type\":\"message\",\"role\":\"user\",\"content\":"));
    json_write(input, &list);
    buf_append_str(&list, STR("}]"));
    struct history_text *text = text_of(&list, fault);
    buf_deinit(&list);
    return text;
}

/* Items that only the server can read. */
static bool has_stand_in(const struct json *input)
{
    bool has = false;
    for (size_t i = 0; i < json_count(input) && !has; i++)
        has = responses_items_is_reference(json_at(input, i)) ||
              responses_compact_is(json_at(input, i));
    return has;
}

/* --- members --- */

static bool read_flag(const struct json *asked, const char *name, bool otherwise, bool *out,
                      struct fault *fault)
{
    const struct json *value = json_get(asked, name);
    *out = json_bool(value, otherwise);
    return json_absent(value) || json_kind_of(value) == JSON_KIND_BOOL ||
           fault_request(fault, name, "%s must be true or false", name);
}

static bool read_name(const struct json *value, const char *param, struct td_str *out,
                      struct fault *fault)
{
    *out = json_text(value);
    return (out->len > 0 && !memchr(out->data, '\0', out->len)) ||
           fault_request(fault, param, "%s must be a string that is not empty", param);
}

static bool read_flags(const struct responses_history *from, const struct json *asked,
                       struct history_turn *turn, struct fault *fault)
{
    if (!read_flag(asked, "store", true, &turn->store, fault) ||
        !read_flag(asked, "background", false, &turn->background, fault))
        return false;
    turn->store &= from->history != NULL;
    turn->key = from->key;
    return !turn->background || turn->store ||
           chat_build_unsupported(
               fault, "background", "a response in the background has to be kept, and %s",
               from->history ? "store is false" : "this server keeps no responses");
}

static bool append_earlier(const struct responses_history *from, const struct json *asked,
                           struct history_turn *turn, struct buf *out, struct fault *fault)
{
    const struct json *previous = json_get(asked, "previous_response_id"),
                      *conversation = json_get(asked, "conversation");
    struct td_str id;
    if (!json_absent(previous) && !json_absent(conversation))
        return fault_request(fault, "previous_response_id",
                             "previous_response_id and conversation exclude each other");
    if (!json_absent(previous))
        return read_name(previous, "previous_response_id", &id, fault) &&
               append_previous(from, id, turn, out, fault);
    if (json_absent(conversation))
        return true;
    bool object = json_kind_of(conversation) == JSON_KIND_OBJECT;
    return read_name(object ? json_get(conversation, "id") : conversation,
                     object ? "conversation.id" : "conversation", &id, fault) &&
           append_conversation(from, id, turn, out, fault);
}

/* --- the whole --- */

/* items: all of `input`, as JSON. */
static struct json *make_whole(const struct json *asked, const struct buf *items,
                               struct fault *fault)
{
    struct buf text;
    struct json *whole = NULL;
    buf_init(&text, items->bytes_max);
    buf_append_str(&text, STR("{\"input\":"));
    buf_append_str(&text, buf_view(items));
    buf_append_char(&text, '}');
    if (text.failed || items->failed)
        fault_request(fault, "input", "with what went before, the request is too large");
    else if (openai_request_read_object(buf_view(&text), &whole, fault)) {
        void *at = NULL;
        const char *name;
        const struct json *value;
        while (json_next(asked, &at, &name, &value))
            if (strcmp(name, "input") != 0)
                json_put(whole, name, json_clone(value));
    }
    buf_deinit(&text);
    return whole;
}

/* earlier: the items of earlier turns, with their brackets; the own ones are added. */
static bool join(const struct json *asked, const struct history_turn *turn, struct buf *earlier,
                 struct json **whole, size_t *earlier_count, struct fault *fault)
{
    size_t own = 0;
    buf_truncate(earlier, earlier->len - 1);
    responses_items_append(turn->own, earlier);
    buf_append_char(earlier, ']');
    *whole = make_whole(asked, earlier, fault);
    if (!*whole)
        return false;
    const struct json *input = json_get(asked, "input");
    own = json_kind_of(input) == JSON_KIND_TEXT ? 1 : json_count(input);
    *earlier_count = json_count(json_get(*whole, "input")) - own;
    return true;
}

static bool is_items(const struct json *input)
{
    enum json_kind kind = json_kind_of(input);
    return kind == JSON_KIND_TEXT || kind == JSON_KIND_ARRAY || json_absent(input);
}

bool responses_history_read(const struct responses_history *from, const struct json *asked,
                            struct history_turn *turn, struct json **whole, size_t *earlier_count,
                            struct fault *fault)
{
    const struct json *input = json_get(asked, "input");
    struct buf earlier;
    *turn = (struct history_turn){.store = false};
    *whole = NULL;
    *earlier_count = 0;
    if (!is_items(input)) /* which the translation will say */
        return true;
    buf_init(&earlier, 8 * from->bytes_max + 131072);
    buf_append_char(&earlier, '[');
    bool ok =
        read_flags(from, asked, turn, fault) && append_earlier(from, asked, turn, &earlier, fault);
    bool goes_on = *turn->previous || *turn->conversation || has_stand_in(input);
    if (ok && (goes_on || turn->store)) {
        turn->own = json_kind_of(input) == JSON_KIND_TEXT
                        ? copy_text(input, fault)
                        : responses_history_copy(from, input, "input", &turn->data_class, fault);
        ok = turn->own != NULL;
    }
    buf_append_char(&earlier, ']');
    if (ok && goes_on)
        ok = join(asked, turn, &earlier, whole, earlier_count, fault);
    buf_deinit(&earlier);
    if (!ok)
        responses_history_deinit(turn);
    return ok;
}

void responses_history_deinit(struct history_turn *turn)
{
    history_text_free(turn->own);
    turn->own = NULL;
}

/* --- showing --- */

static void show(const struct history_found *found, struct td_str id, size_t list_count,
                 struct json *out)
{
    for (size_t i = 0; i < found->list_count && i < list_count; i++)
        responses_items_show_list(found->lists[i], id, i, out);
}

bool responses_history_show(const struct responses_history *from, struct td_str id,
                            struct json **out)
{
    struct history_found found;
    struct chain chain = {.count = 0};
    struct fault fault;
    *out = NULL;
    if (!from->history || !history_find(from->history, from->caller, id, &found))
        return false;
    bool ok = true;
    struct json *items = json_new_array();
    if (str_starts_with(id, STR("conv_"))) {
        show(&found, id, SIZE_MAX, items);
    } else {
        ok = chain_read(from, str_from(found.previous), &chain, &fault);
        for (size_t i = chain.count; ok && i-- > 0;)
            show(&chain.turns[i], str_from(chain.ids[i]), SIZE_MAX, items);
        show(&found, id, 1, items);
    }
    chain_deinit(&chain);
    history_found_deinit(&found);
    if (ok)
        *out = items;
    else
        json_free(items);
    return ok;
}
