/* A dialect: the wire format in which a client talks to a model. /v1/chat/completions is one;
 * /v1/messages, /v1/responses, Ollama's /api/chat and llama-server's /completion are others.
 *
 * A request of another dialect is first translated into the chat request that asks the same. So
 * routing, privacy, limits and tiers know one form only, and a cloud gets what it would get of a
 * chat. The answer is written in the dialect's form. Both are plain functions of this struct;
 * chat_handler.c does the rest for all. */
#ifndef API_DIALECT_H
#define API_DIALECT_H

#include "api/dialects/responses/responses_history.h"
#include "api/http/event_stream.h"
#include "api/wire/openai_request.h"
#include "api/wire/openai_response.h"

/* One reply under way. */
struct dialect_reply {
    const struct chat_request *request;
    struct response_writer writer;
    struct response_answer answer; /* what has come, where it is needed whole */
    void *state;                   /* [state_bytes], zero at first */
};

/* A chat's member, or the beginning of its path, as the dialect calls it. */
struct dialect_name {
    const char *chat, *own;
};

struct dialect {
    const struct event_form *form; /* its write_fault gets the reply */
    size_t state_bytes;
    const struct dialect_name *names; /* up to one with chat NULL */
    bool has_corrections;
    bool keeps_request; /* its answers repeat what was asked: chat_request.asked */
    /* Puts what a request goes on from before its own items (responses_history.h); NULL: requests
     * of this dialect are whole. */
    bool (*recall)(const struct responses_history *from, const struct json *asked,
                   struct history_turn *turn, struct json **whole, size_t *earlier,
                   struct fault *fault);
    /* Makes texts of token ids in the body; NULL: there are none. False with *fault. */
    bool (*spell_tokens)(struct json *asked, const struct td_model *model, struct fault *fault);
    /* **returns new** (json_free) the chat request's body, or NULL with *fault filled. NULL: the
     * body is one. */
    struct json *(*translate)(const struct json *body, struct fault *fault);
    /* What the chat request's body has no member for; NULL: nothing. False with *fault. */
    bool (*finish_request)(const struct json *asked, struct arena *arena, struct chat_request *out,
                           struct fault *fault);
    /* Whether a request asks for no answer, such as one that only loads a model, and the body that
     * it gets. NULL: each asks for one. */
    bool (*asks_nothing)(const struct json *asked);
    void (*write_nothing)(const struct json *asked, struct buf *out);
    /* Appends the types of what `translate` leaves out and the client should know of; NULL: it
     * leaves out nothing. */
    void (*list_left_out)(const struct json *body, struct buf *out);
    /* Whether the answer is to have what the model thought; NULL: it never has. */
    bool (*shows_thoughts)(const struct json *body);
    /* A whole answer: `reply->answer`. False when it is larger than `out` may be, or, with *fault
     * filled, when the tier's answer cannot be said in this dialect. */
    bool (*write_answer)(const struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault);
    /* A stream's events, whole: at its start, for each piece (there may be none), for a correction,
     * at the end. False with *fault filled: cannot be said. */
    void (*write_start)(struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out);
    bool (*write_piece)(struct dialect_reply *reply, const struct exchange_summary *summary,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault);
    void (*write_correction)(struct dialect_reply *reply, const struct exchange_summary *summary,
                             struct buf *out); /* where has_corrections */
    void (*write_verdict)(struct dialect_reply *reply, const struct exchange_summary *summary,
                          struct buf *out); /* likewise: what was found of what was shown */
    bool (*write_finish)(struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault);
    /* Where there is `recall`: the answer as it is kept, streamed or not. summary NULL: there is
     * none yet; fault: nor will there be one. Its items, a JSON array, stand in `out` at *items,
     * items_len bytes. */
    void (*write_kept)(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       const struct fault *fault, struct buf *out, size_t *items,
                       size_t *items_len);
    void (*deinit)(void *state); /* NULL = nothing to release */
};

extern const struct dialect dialect_chat, dialect_messages, dialect_responses;
/* The second one streams an array of JSON instead of events. */
extern const struct dialect dialect_gemini, dialect_gemini_array;
extern const struct dialect dialect_ollama_chat, dialect_ollama_generate;
extern const struct dialect dialect_llama_completion, dialect_llama_infill;

/* What is known of a request beside its body. */
struct dialect_path {
    struct td_str model;              /* that its path names; "" = the body says it */
    bool says_stream, streams;        /* so does its path; says_stream false: the body says it */
    const struct td_model *on_device; /* whose token ids the body may hold; NULL = there is none */
};

/* As openai_request_parse. *out is to be freed with openai_request_deinit. Nothing is kept that the
 * request could go on from. */
bool dialect_read(const struct dialect *dialect, struct td_str body, request_header_fn *header,
                  void *header_ctx, struct arena *arena, struct chat_request *out,
                  struct fault *fault);
/* The same with what is kept; the classes of what it goes on from are the request's, too. path:
 * what the body does not say. */
bool dialect_read_on(const struct dialect *dialect, const struct dialect_path *path,
                     const struct responses_history *from, struct td_str body,
                     request_header_fn *header, void *header_ctx, struct arena *arena,
                     struct chat_request *out, struct fault *fault);
/* Renames the place at fault to the client's own name for it. */
void dialect_name_fault(const struct dialect *dialect, struct fault *fault);

#endif
