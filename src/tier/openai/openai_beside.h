/* What a server says of an answer beside its message: members of a chunk (service_tier,
 * system_fingerprint, citations, a provider's own), of its choice (native_finish_reason, filters)
 * and of the usage (its details). They are gathered while the answer comes, the last value counts,
 * and they are told once, with the last piece:
 *
 *   raw_delta: {"beside": {"chunk": {...}, "choice": {...}, "usage": {...}}}
 *
 * What is not told: members that this server writes itself, and those that pad a chunk. Plain data,
 * one owner, one thread. */
#ifndef TIER_OPENAI_BESIDE_H
#define TIER_OPENAI_BESIDE_H

#include "base/json/json.h"

/* The member of raw_delta. A server's own of that name is not told. */
#define OPENAI_BESIDE "beside"

/* Begins as {0}. */
struct openai_beside {
    struct json *chunk, *choice, *usage;
};

void openai_beside_deinit(struct openai_beside *beside);
void openai_beside_note_chunk(struct openai_beside *beside, const struct json *chunk);
void openai_beside_note_choice(struct openai_beside *beside, const struct json *choice);
void openai_beside_note_usage(struct openai_beside *beside, const struct json *usage);
/* The last piece's raw_delta; NULL when there is nothing to tell. **returns new** (json_free). */
struct json *openai_beside_take(struct openai_beside *beside);

#endif
