/* Google's Gemini API (https://ai.google.dev/api/generate-content), which Vertex AI speaks as well,
 * as a dialect of a tier. The other direction, for clients of it, is api/dialects/gemini/. */
#ifndef TIER_GEMINI_H
#define TIER_GEMINI_H

#include "tier/openai/openai_dialect.h"

/* As tier_dialect.write_body. */
enum td_status gemini_write_body(const struct json *chat, const struct dialect_ask *ask,
                                 struct buf *out, struct td_error *err);

/* Where the reading of a stream stands. */
struct gemini_reading {
    uint32_t call_count;
};
/* As tier_dialect.read; state is a struct gemini_reading. */
void gemini_read(void *state, struct td_str name, const struct json *event,
                 const struct dialect_out *out);

#endif
