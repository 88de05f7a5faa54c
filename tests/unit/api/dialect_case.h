/* A request of a dialect: the chat that it becomes, or why it is refused. */
#ifndef TESTS_DIALECT_CASE_H
#define TESTS_DIALECT_CASE_H

#include "api/wire/openai_request.h"
#include "base/core/str.h"

#include <stdio.h>
#include <string.h>

typedef struct json *translate_fn(const struct json *body, struct fault *fault);

static inline struct json *translated(translate_fn *translate, const char *text,
                                      struct fault *fault)
{
    struct json *body = NULL, *chat = NULL;
    *fault = (struct fault){0};
    if (openai_request_read_object(str_from(text), &body, fault))
        chat = translate(body, fault);
    json_free(body);
    return chat;
}

/* The chat request that the text becomes, as JSON. */
static inline bool becomes_by(translate_fn *translate, const char *text, const char *wanted)
{
    struct fault fault;
    struct buf got;
    struct json *chat = translated(translate, text, &fault);
    buf_init(&got, 65536);
    if (chat)
        json_write(chat, &got);
    bool same = str_equal(buf_view(&got), str_from(wanted));
    if (!same)
        fprintf(stderr, "got  %s\nwant %s\n%s\n", got.data ? got.data : "", wanted, fault.message);
    json_free(chat);
    buf_deinit(&got);
    return same;
}

typedef void list_left_out_fn(const struct json *body, struct buf *out);

static inline bool leaves_out_by(list_left_out_fn *list, const char *text, const char *wanted)
{
    struct json *body = NULL;
    struct fault fault = {0};
    struct buf got;
    buf_init(&got, 1000);
    bool read = openai_request_read_object(str_from(text), &body, &fault);
    if (read)
        list(body, &got);
    bool same = read && str_equal(buf_view(&got), str_from(wanted));
    if (!same)
        fprintf(stderr, "got  %.*s\nwant %s\n", (int)got.len, got.data ? got.data : "", wanted);
    buf_deinit(&got);
    json_free(body);
    return same;
}

static inline bool refused_by(translate_fn *translate, const char *text, const char *param,
                              const char *needle)
{
    struct fault fault;
    struct json *chat = translated(translate, text, &fault);
    bool right = !chat && fault.code == 400 && strcmp(fault.param, param) == 0 &&
                 strstr(fault.message, needle);
    if (!right)
        fprintf(stderr, "%s: code %d at '%s': %s\n", text, fault.code, fault.param, fault.message);
    json_free(chat);
    return right;
}

#endif
