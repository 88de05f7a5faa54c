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

void turns_begin(struct turns *turns, const char *parts_name);
/* **takes** part; NULL adds nothing. */
void turns_add(struct turns *turns, const char *role, struct json *part);
/* Ends the turn under way. */
void turns_end(struct turns *turns);

/* {name: value}. **takes** value; **returns new** */
struct json *cloud_object(const char *name, struct json *value);
/* Puts the list, or frees it when it is empty. **takes** list. */
void cloud_put_list(struct json *to, const char *name, struct json *list);

/* Whether a call must be made, of any tool or of one. */
bool cloud_forces_call(const struct json *chat);

/* A count of tokens; one that can be no count stays none in a sum. */
int64_t cloud_count(const struct json *usage, const char *name);

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
