#include "api/inference/kept_events.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "net/client/sse.h"

struct events {
    struct buf *out;
    uint64_t number, after;
    struct json *event; /* the one at hand */
};

static void begin(struct events *events, const char *type)
{
    events->event = json_new_object();
    json_put(events->event, "type", json_new_cstr(type));
    json_put(events->event, "sequence_number", json_new_int((int64_t)events->number));
}

static void end(struct events *events, bool last)
{
    if (last || events->after == KEPT_EVENTS_ALL || events->number > events->after) {
        sse_begin(events->out, json_cstr(json_get(events->event, "type")));
        json_write(events->event, events->out);
        sse_end(events->out);
    }
    events->number++;
    json_free(events->event);
}

/* --- an item --- */

static void begin_part(struct events *events, const char *type, const struct json *item,
                       size_t index, size_t content)
{
    begin(events, type);
    json_put(events->event, "item_id", json_clone(json_get(item, "id")));
    json_put(events->event, "output_index", json_new_int((int64_t)index));
    json_put(events->event, "content_index", json_new_int((int64_t)content));
}

static void write_part(struct events *events, const struct json *item, size_t index, size_t content)
{
    const struct json *part = json_at(json_get(item, "content"), content);
    const struct json *text = json_get(part, "text");
    if (!str_equal(json_get_text(part, "type"), STR("output_text")))
        return;
    struct json *empty = json_clone(part);
    json_put(empty, "text", json_new_cstr(""));
    begin_part(events, "response.content_part.added", item, index, content);
    json_put(events->event, "part", empty);
    end(events, false);
    begin_part(events, "response.output_text.delta", item, index, content);
    json_put(events->event, "delta", json_clone(text));
    end(events, false);
    begin_part(events, "response.output_text.done", item, index, content);
    json_put(events->event, "text", json_clone(text));
    end(events, false);
    begin_part(events, "response.content_part.done", item, index, content);
    json_put(events->event, "part", json_clone(part));
    end(events, false);
}

static void write_item(struct events *events, const struct json *item, size_t index)
{
    static const char *const types[] = {"response.output_item.added", "response.output_item.done"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (size_t at = 0; i == 1 && at < json_count(json_get(item, "content")); at++)
            write_part(events, item, index, at);
        struct json *shown = json_clone(item);
        if (i == 0 && json_get(item, "content"))
            json_put(shown, "content", json_new_array());
        if (i == 0)
            json_put(shown, "status", json_new_cstr("in_progress"));
        begin(events, types[i]);
        json_put(events->event, "output_index", json_new_int((int64_t)index));
        json_put(events->event, "item", shown);
        end(events, false);
    }
}

/* --- the response --- */

static const char *last_type(const struct json *response)
{
    struct td_str status = json_get_text(response, "status");
    if (str_equal(status, STR("completed")))
        return "response.completed";
    return str_equal(status, STR("failed")) ? "response.failed" : "response.incomplete";
}

bool kept_events_write(struct td_str body, uint64_t after, struct buf *out)
{
    struct events events = {.out = out, .after = after};
    struct json *response = NULL;
    if (json_parse(body, &response, NULL) != TD_OK)
        return false;
    const struct json *items = json_get(response, "output");
    struct json *begun = json_clone(response);
    json_put(begun, "status", json_new_cstr("in_progress"));
    json_put(begun, "output", json_new_array());
    begin(&events, "response.created");
    json_put(events.event, "response", json_clone(begun));
    end(&events, false);
    begin(&events, "response.in_progress");
    json_put(events.event, "response", begun);
    end(&events, false);
    for (size_t i = 0; i < json_count(items); i++)
        write_item(&events, json_at(items, i), i);
    begin(&events, last_type(response));
    json_put(events.event, "response", response); /* taken */
    end(&events, true);
    return !out->failed;
}
