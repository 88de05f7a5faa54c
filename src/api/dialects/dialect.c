/* Reads a request of any dialect: other dialects are translated into a chat's body first, and a
 * fault in that body is renamed to the member that the client wrote. */
#include "api/dialects/dialect.h"

#include "base/core/assertion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the path is the name, or goes on below it. */
static bool begins(const char *path, const char *name)
{
    size_t len = strlen(name);
    return strncmp(path, name, len) == 0 && (!path[len] || path[len] == '.' || path[len] == '[');
}

/* A message that begins with the member's name says the client's own. */
static void name_in_message(const struct dialect_name *name, struct fault *fault)
{
    char message[sizeof fault->message];
    size_t len = strlen(name->chat);
    if (strncmp(fault->message, name->chat, len) != 0 || !strchr(" .[", fault->message[len]))
        return;
    snprintf(message, sizeof message, "%s%s", name->own, fault->message + len);
    memcpy(fault->message, message, sizeof message);
}

void dialect_name_fault(const struct dialect *dialect, struct fault *fault)
{
    for (const struct dialect_name *name = dialect->names; name && name->chat; name++) {
        if (!begins(fault->param, name->chat))
            continue;
        char param[sizeof fault->param];
        snprintf(param, sizeof param, "%s%s", name->own, fault->param + strlen(name->chat));
        memcpy(fault->param, param, sizeof param);
        name_in_message(name, fault);
        return;
    }
}

static bool name_left_out(const struct dialect *dialect, const struct json *asked,
                          struct arena *arena, struct chat_request *out, struct fault *fault)
{
    struct buf list;
    buf_init(&list, LEFT_OUT_BYTES_MAX);
    if (dialect->list_left_out)
        dialect->list_left_out(asked, &list);
    bool ok = openai_request_leave_out(out, buf_view(&list), arena, fault);
    buf_deinit(&list);
    return ok;
}

static bool finish(const struct dialect *dialect, const struct json *asked, struct arena *arena,
                   struct chat_request *out, struct fault *fault)
{
    if (!dialect->finish_request || dialect->finish_request(asked, arena, out, fault))
        return true;
    openai_request_deinit(out);
    return false;
}

/* Places in `input` are those of the client's own items. One of an earlier item has no place. */
static void shift_place(struct fault *fault, size_t earlier)
{
    char *end;
    static const char input[] = "input[";
    size_t begin = sizeof input - 1;
    if (earlier == 0 || strncmp(fault->param, input, begin) != 0)
        return;
    unsigned long index = strtoul(fault->param + begin, &end, 10);
    char param[sizeof fault->param];
    if (index < earlier)
        snprintf(param, sizeof param, "input");
    else
        snprintf(param, sizeof param, "input[%lu%s", index - earlier, end);
    memcpy(fault->param, param, sizeof param);
}

/* What of the request the classes of earlier turns say. */
static void raise_classes(struct chat_request *out)
{
    const struct history_class *earlier = &out->turn.data_class;
    if (earlier->declared > out->td.data_class)
        out->td.data_class = earlier->declared;
    out->td.class_before = earlier->seen;
}

/* Puts what the path says into the body, which has no say in it. */
static bool put_path(const struct dialect_path *path, struct json *asked, struct fault *fault)
{
    if (!openai_request_put_model(asked, path->model, fault))
        return false;
    if (path->says_stream)
        json_put(asked, "stream", json_new_bool(path->streams));
    if (!path->says_stream || json_bool(json_get(asked, "stream"), !path->streams) == path->streams)
        return true;
    return fault_no_memory(fault);
}

bool dialect_read(const struct dialect *dialect, struct td_str body, request_header_fn *header,
                  void *header_ctx, struct arena *arena, struct chat_request *out,
                  struct fault *fault)
{
    const struct responses_history nothing = {.history = NULL};
    const struct dialect_path path = {.says_stream = false};
    return dialect_read_on(dialect, &path, &nothing, body, header, header_ctx, arena, out, fault);
}

bool dialect_read_on(const struct dialect *dialect, const struct dialect_path *path,
                     const struct responses_history *from, struct td_str body,
                     request_header_fn *header, void *header_ctx, struct arena *arena,
                     struct chat_request *out, struct fault *fault)
{
    ASSERT(dialect && path && from && arena && out && fault);
    struct json *asked = NULL, *whole = NULL;
    struct history_turn turn = {.store = false};
    size_t earlier = 0;
    *out = (struct chat_request){.body = NULL};
    if (!openai_request_read_object(body, &asked, fault))
        return false;
    if (dialect->asks_nothing && dialect->asks_nothing(asked)) {
        *out = (struct chat_request){.asked = asked, .asks_nothing = true};
        return true;
    }
    bool ok = put_path(path, asked, fault);
    if (ok && !dialect->translate)
        return openai_request_read_chat(asked, header, header_ctx, arena, out, fault);
    ok = ok && (!dialect->spell_tokens || dialect->spell_tokens(asked, path->on_device, fault)) &&
         (!dialect->recall || dialect->recall(from, asked, &turn, &whole, &earlier, fault));
    const struct json *read = whole ? whole : asked;
    struct json *chat = ok ? dialect->translate(read, fault) : NULL;
    ok = chat && openai_request_read(chat, header, header_ctx, arena, out, fault) &&
         finish(dialect, read, arena, out, fault) &&
         name_left_out(dialect, read, arena, out, fault);
    json_free(whole);
    if (!ok) {
        dialect_name_fault(dialect, fault);
        shift_place(fault, earlier);
        responses_history_deinit(&turn);
        json_free(asked);
        return false;
    }
    out->td.translated = true;
    out->turn = turn;
    raise_classes(out);
    out->shows_thoughts = dialect->shows_thoughts && dialect->shows_thoughts(asked);
    if (!dialect->has_corrections)
        out->td.corrections = false;
    if (!dialect->keeps_request) {
        json_free(asked);
        return true;
    }
    out->asked = asked;
    out->asked_bytes = body.len;
    return true;
}
