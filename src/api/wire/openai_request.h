/* POST /v1/chat/completions: a JSON body and the x-tandem-* headers become a td_request.
 *
 * Every failure names the place at fault the way OpenAI does (`messages[2].content[0].type`).
 * Members that are not understood here are listed for servers elsewhere as they came. Members that
 * would silently change the meaning of a local answer (n > 1, audio, images) are refused. No thread
 * state. */
#ifndef API_OPENAI_REQUEST_H
#define API_OPENAI_REQUEST_H

#include "api/history/turn.h"
#include "api/http/fault.h"
#include "api/wire/request_options.h"
#include "request/request.h"

#define OPENAI_MESSAGES_MAX 4096
/* Values in a body. A parsed value takes some 40 bytes, and a clone for a cloud as many: a body of
 * 4 MB that is nothing but [0,0,0,...] would take 160 MB. Large tool schemas have some
 * thousands. */
#define OPENAI_VALUES_MAX 131072
/* Of one request of a chat (inference/several_answers.h). */
#define OPENAI_ANSWERS_MAX 16
#define OPENAI_MODEL_BYTES_MAX 256
/* OpenAI's clients may send 128; above what any other sends. */
#define OPENAI_TOOLS_MAX 512

struct chat_request {
    struct td_request td;     /* borrows from `body` and the arena; owns its grammar */
    struct json *body;        /* the parsed body, owned: openai_request_deinit */
    struct json *guessed;     /* a schema that its prompt gives; owned; or NULL */
    struct json *asked;       /* before it was translated (dialect.h), where that is kept; owned */
    size_t asked_bytes;       /* of its text */
    const char *left_out;     /* openai_request_leave_out; or NULL */
    struct td_str user_items; /* of a compaction: a JSON array of the user's messages */
    struct history_turn turn; /* what it goes on from (dialect.h); its text is owned */
    bool shows_thoughts;      /* the answer is to have what the model thought (dialect.h) */
    bool include_usage;       /* stream_options.include_usage */
    bool include_obfuscation; /* stream_options.include_obfuscation */
    bool hides_reasoning;     /* the answer's is not shown, in dialects that show it */
    bool keeps_signatures;    /* what proves the reasoning is given all the same */
    bool asks_nothing;        /* there is nothing to answer: `asked` alone is filled */
};

/* An upper bound of the values in a text of JSON: one more than the separators outside of strings.
 */
size_t openai_request_count_values(struct td_str text);
/* False with *fault filled. Strings and messages live in `arena` and in out->body; header may be
 * NULL. On failure nothing needs freeing but the arena. */
bool openai_request_parse(struct td_str body, request_header_fn *header, void *header_ctx,
                          struct arena *arena, struct chat_request *out, struct fault *fault);
/* The same of a body that is parsed already; **takes** it. */
bool openai_request_read(struct json *body, request_header_fn *header, void *header_ctx,
                         struct arena *arena, struct chat_request *out, struct fault *fault);
/* The same of a body as a client wrote it; **takes** it. */
bool openai_request_read_chat(struct json *body, request_header_fn *header, void *header_ctx,
                              struct arena *arena, struct chat_request *out, struct fault *fault);
/* A header's worth of names: some dozens. */
#define LEFT_OUT_BYTES_MAX 1000
/* Has the answer say what of the request went no further: members, or types of tools and items that
 * no chat has. names: "" = nothing; what did not fit into it is cut. On failure the request is
 * gone. */
bool openai_request_leave_out(struct chat_request *request, struct td_str names,
                              struct arena *arena, struct fault *fault);
/* Makes a chat of one message a completion of its text. False without memory, with the fault. */
bool openai_request_make_completion(struct arena *arena, struct chat_request *out,
                                    struct fault *fault);
/* Parts that requests of other kinds share (completion_request.c). */
/* **returns new** *out (json_free): a bounded JSON object. */
bool openai_request_read_object(struct td_str body, struct json **out, struct fault *fault);
/* The model that a request's path names goes before the body's. model: "" = none. */
bool openai_request_put_model(struct json *body, struct td_str model, struct fault *fault);
/* What means the same everywhere. chat: also those that completions have differently. */
bool openai_request_read_members(const struct json *body, bool chat, struct arena *arena,
                                 struct chat_request *out, struct fault *fault);

void openai_request_deinit(struct chat_request *request);

#endif
