/* Another provider's API behind the same attempts. A dialect makes its body of the body of a chat,
 * and chunks of a chat of the events of its answer. Everything else stays in one place: the door,
 * time-outs, retries, keys, refusals, the check of what was counted.
 *
 * A reader has no I/O and no clock, and is given one event at a time, already parsed, so its input
 * is bounded by the event's size (openai_stream.c). What it does not know it passes over: providers
 * add kinds of events. What has not the documented shape ends the answer. One owner, one thread. */
#ifndef TIER_OPENAI_DIALECT_H
#define TIER_OPENAI_DIALECT_H

#include "base/core/str.h"
#include "base/json/json.h"

struct buf;
struct model_card;

/* Where a reader puts what it reads. After a failure or the end nothing more is taken. */
struct dialect_out {
    void (*chunk)(void *ctx, const struct json *chunk); /* **borrows** it for the call */
    void (*malformed)(void *ctx, const char *what);     /* a literal */
    void (*done)(void *ctx);                            /* nothing of the answer follows */
    void *ctx;
};

/* What a body is made for. */
struct dialect_ask {
    const char *model;
    const struct model_card *card; /* NULL = nothing is known of the model */
};

struct tier_dialect {
    unsigned lacks; /* of enum capability: what its API has no form for */
    /* Thoughts are counted within the limit that it is sent, which is then more than a chat's. */
    bool thinks_beside;
    bool frames; /* the answer is a stream of frames (net/client/event_frames.h), not of events */
    size_t state_bytes;
    /* Appends the body that says what a chat's body says; TD_INVALID when there is none. */
    enum td_status (*write_body)(const struct json *chat, const struct dialect_ask *ask,
                                 struct buf *out, struct td_error *err);
    /* state: [state_bytes], zero at the beginning, plain data. name: of the event, may be empty. */
    void (*read)(void *state, struct td_str name, const struct json *event,
                 const struct dialect_out *out);
};

/* --- chunks --- */

/* A chunk with this delta. **takes** delta. */
void dialect_put_delta(const struct dialect_out *out, struct json *delta);
/* The same with one text; nothing for an empty one. */
void dialect_put_text(const struct dialect_out *out, const char *member, struct td_str text);
/* Begins a call (id or name not empty), or goes on with its arguments. */
struct dialect_call {
    uint32_t number;
    struct td_str id, name, arguments;
    struct json *extra; /* `extra_content` of the call, taken; NULL = none */
};
void dialect_put_call(const struct dialect_out *out, const struct dialect_call *call);
/* reason: as a chat says it. stop: the text that ended the answer, or empty. */
void dialect_put_finish(const struct dialect_out *out, const char *reason, struct td_str stop);
/* The name of the model that answers. */
void dialect_put_model(const struct dialect_out *out, struct td_str model);
/* An error in the stream. type: the provider's; http 0 = its type says it. */
void dialect_put_error(const struct dialect_out *out, struct td_str type, int64_t http,
                       struct td_str message);

/* Tokens as providers count them. */
struct dialect_usage {
    int64_t prompt, completion, cached,
        reasoning;         /* cached and reasoning are parts of the others */
    int64_t cache_written; /* of the prompt, into the provider's cache */
};
void dialect_put_usage(const struct dialect_out *out, const struct dialect_usage *usage);

/* A word of the provider's and what a chat says; ends with {NULL, ...}. */
struct dialect_word {
    const char *theirs, *ours;
};
/* otherwise: for a word that is not listed. */
const char *dialect_word(const struct dialect_word *words, struct td_str word,
                         const char *otherwise);

/* --- a chat's body --- */

/* The text of a content, which is a text or a list of parts; other parts are passed over. */
void dialect_write_text(const struct json *content, struct buf *out);
/* Of "data:TYPE;base64,DATA". False when it is no such URL. **borrows** */
bool dialect_read_data_url(struct td_str url, struct td_str *type, struct td_str *data);
/* The arguments of a call, which are a text of JSON, as an object. A text that is none becomes
 * {"arguments": text}. **returns new**; NULL without memory. */
struct json *dialect_arguments(struct td_str text);
/* The most tokens of an answer that a chat allows; 0 = it does not say. */
int64_t dialect_tokens_max(const struct json *chat);
/* A list of what `stop` has, without texts of white space alone; NULL when there are none.
 * **returns new** */
struct json *dialect_stops(const struct json *chat);
/* The parameters of a function, at least an empty object. **returns new** */
struct json *dialect_parameters(const struct json *function);
/* The schema of response_format, or NULL. **borrows** */
const struct json *dialect_schema(const struct json *chat);
/* Whether response_format asks for any JSON object. */
bool dialect_wants_json(const struct json *chat);
/* Copies a member, under a name of its own, when it is there. */
void dialect_copy(const struct json *from, const char *name, struct json *to, const char *as);

/* Appends the JSON; TD_LIMIT or TD_NO_MEMORY. **takes** body. */
enum td_status dialect_write_body(struct json *body, uint32_t shortages, struct buf *out,
                                  struct td_error *err);
/* Refuses a part of a message for which the API has no form. */
enum td_status dialect_refuse_part(const struct json *part, struct td_error *err);

#endif
