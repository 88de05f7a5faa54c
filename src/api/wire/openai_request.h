/* POST /v1/chat/completions: a JSON body and the x-tandem-* headers become a td_request.
 *
 * Every failure names the place at fault the way OpenAI does (`messages[2].content[0].type`).
 * Members that are not understood here are listed for servers elsewhere as they came. Members that
 * would silently change the meaning of a local answer (n > 1, audio, images) are refused. No thread
 * state. */
#ifndef API_OPENAI_REQUEST_H
#define API_OPENAI_REQUEST_H

#include "api/http/fault.h"
#include "api/wire/request_options.h"
#include "request/request.h"

#define OPENAI_MESSAGES_MAX 4096
/* Values in a body. A parsed value takes some 40 bytes, and a clone for a cloud as many: a body of
 * 4 MB that is nothing but [0,0,0,...] would take 160 MB. Large tool schemas have some
 * thousands. */
#define OPENAI_VALUES_MAX 131072
#define OPENAI_MODEL_BYTES_MAX 256

struct chat_request {
    struct td_request td;     /* borrows from `body` and the arena; owns its grammar */
    struct json *body;        /* the parsed body, owned: openai_request_deinit */
    struct json *asked;       /* before it was translated (dialect.h), where that is kept; owned */
    size_t asked_bytes;       /* of its text */
    bool include_usage;       /* stream_options.include_usage */
    bool include_obfuscation; /* stream_options.include_obfuscation */
};

/* False with *fault filled. Strings and messages live in `arena` and in out->body; header may be
 * NULL. On failure nothing needs freeing but the arena. */
bool openai_request_parse(struct td_str body, request_header_fn *header, void *header_ctx,
                          struct arena *arena, struct chat_request *out, struct fault *fault);
/* The same of a body that is parsed already; **takes** it. */
bool openai_request_read(struct json *body, request_header_fn *header, void *header_ctx,
                         struct arena *arena, struct chat_request *out, struct fault *fault);
/* Parts that requests of other kinds share (completion_request.c). */
/* **returns new** *out (json_free): a bounded JSON object. */
bool openai_request_read_object(struct td_str body, struct json **out, struct fault *fault);
/* What means the same everywhere. chat: also those that completions have differently. */
bool openai_request_read_members(const struct json *body, bool chat, struct arena *arena,
                                 struct chat_request *out, struct fault *fault);

void openai_request_deinit(struct chat_request *request);

#endif
