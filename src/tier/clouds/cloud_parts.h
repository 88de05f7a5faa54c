/* What the clouds' dialects share: turns of a conversation to write, and counts and thoughts of an
 * answer to read. */
#ifndef TIER_CLOUD_PARTS_H
#define TIER_CLOUD_PARTS_H

#include "tier/openai/openai_dialect.h"

/* A list of turns, each with the parts of one side: neighbours of one side become one turn. */
struct turns {
    const char *parts_name; /* of the member of a turn: "content" or "parts" */
    struct json *list;      /* the turns that are whole */
    const char *role;       /* of the turn under way, a literal; NULL = none */
    struct json *parts;
};

/* **takes** part; NULL adds nothing. */
void turns_add(struct turns *turns, const char *role, struct json *part);

/* The messages of a chat, which a dialect makes turns of. */
struct turns_source {
    const struct json *chat;
    const char *api; /* for the message when no turn came of them: "Anthropic's API" */
    enum td_status (*add)(void *ctx, const struct json *message, size_t index);
    void *ctx;
};
/* All of them. The list is the caller's, also after a failure. */
TD_MUST_CHECK enum td_status turns_read(struct turns *turns, const char *parts_name,
                                        const struct turns_source *source, struct td_error *err);

/* {name: value}. **takes** value; **returns new** */
struct json *cloud_object(const char *name, struct json *value);
/* Puts the list, or frees it when it is empty. **takes** list. */
void cloud_put_list(struct json *to, const char *name, struct json *list);

/* Whether a call must be made, of any tool or of one. */
bool cloud_forces_call(const struct json *chat);

/* A count of tokens; one that can be no count stays none in a sum. */
int64_t cloud_count(const struct json *usage, const char *name);

/* The call of a tool that is being told, one at a time, in pieces of its arguments. */
struct cloud_call {
    bool open, has_arguments;
    uint32_t count; /* of all so far */
};
void cloud_call_begin(struct cloud_call *call, struct td_str id, struct td_str name,
                      const struct dialect_out *out);
/* Nothing where no call is open. */
void cloud_call_add(struct cloud_call *call, struct td_str arguments,
                    const struct dialect_out *out);
/* A call without arguments has an empty object. */
void cloud_call_end(struct cloud_call *call, const struct dialect_out *out);

/* A piece of a thought of Anthropic's models, as an entry of `reasoning_details` in OpenRouter's
 * form; nothing for an empty text. */
struct cloud_thought {
    int64_t index;    /* of its content block */
    const char *type; /* "reasoning.text" or "reasoning.encrypted" */
    const char *name; /* "text", "signature" or "data" */
    struct td_str text;
};
void cloud_put_thought(const struct dialect_out *out, const struct cloud_thought *thought);

#endif
