/* A chat request from a text and headers, as the handler reads one. */
#ifndef CHAT_PARSE_H
#define CHAT_PARSE_H

#include "test.h"

#include "api/wire/openai_format.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"

struct headers {
    const char *name, *value;
};

static const char *find_header(void *ctx, const char *name)
{
    const struct headers *list = ctx;
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list->value;
    return NULL;
}

/* What the handler has a thread do. */
static bool compile(struct chat_request *request, struct fault *fault)
{
    struct td_grammar *grammar = NULL;
    struct td_error err = {0};
    if (!openai_format_is_due(&request->td))
        return true;
    enum td_status status = openai_format_compile(&request->td, &grammar, &err);
    bool ok = openai_format_accept(status, grammar, &err, &request->td, fault);
    if (!ok)
        openai_request_deinit(request);
    return ok;
}

static bool parse(const char *body, const struct headers *headers, struct arena **arena,
                  struct chat_request *out, struct fault *fault)
{
    struct headers list[8] = {{NULL, NULL}};
    for (size_t i = 0; headers && headers[i].name && i < 7; i++) {
        list[i] = headers[i];
        list[i + 1].name = NULL;
    }
    *fault = (struct fault){0};
    *arena = arena_new(1 << 20);
    return openai_request_parse(str_from(body), headers ? find_header : NULL, list, *arena, out,
                                fault) &&
           compile(out, fault);
}

#define USER "{\"role\":\"user\",\"content\":\"hi\"}"
#define WITH(members) "{\"messages\":[" USER "]," members "}"

#endif
