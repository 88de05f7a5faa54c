/* Reads a request of any dialect: other dialects are translated into a chat's body first, and a
 * fault in that body is renamed to the member that the client wrote. */
#include "api/wire/dialect.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Whether the path is the name, or goes on below it. */
static bool begins(const char *path, const char *name)
{
    size_t len = strlen(name);
    return strncmp(path, name, len) == 0 && (!path[len] || path[len] == '.' || path[len] == '[');
}

void dialect_name_fault(const struct dialect *dialect, struct fault *fault)
{
    for (const struct dialect_name *name = dialect->names; name && name->chat; name++) {
        if (!begins(fault->param, name->chat))
            continue;
        char param[sizeof fault->param];
        snprintf(param, sizeof param, "%s%s", name->own, fault->param + strlen(name->chat));
        memcpy(fault->param, param, sizeof param);
        return;
    }
}

bool dialect_read(const struct dialect *dialect, struct td_str body, request_header_fn *header,
                  void *header_ctx, struct arena *arena, struct chat_request *out,
                  struct fault *fault)
{
    assert(dialect && arena && out && fault);
    if (!dialect->translate)
        return openai_request_parse(body, header, header_ctx, arena, out, fault);
    struct json *asked = NULL;
    *out = (struct chat_request){.body = NULL};
    if (!openai_request_read_object(body, &asked, fault))
        return false;
    struct json *chat = dialect->translate(asked, fault);
    bool ok = chat && openai_request_read(chat, header, header_ctx, arena, out, fault);
    if (!ok) {
        dialect_name_fault(dialect, fault);
        json_free(asked);
        return false;
    }
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
