/* AWS Bedrock's Converse API
 * (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html) as a
 * dialect of a tier. */
#ifndef TIER_BEDROCK_H
#define TIER_BEDROCK_H

#include "tier/clouds/cloud_parts.h"

/* As tier_dialect.write_body. */
enum td_status bedrock_write_body(const struct json *chat, const struct dialect_ask *ask,
                                  struct buf *out, struct td_error *err);

/* Where the reading of a stream stands. */
struct bedrock_reading {
    struct cloud_call call;
};
/* As tier_dialect.read; state is a struct bedrock_reading. */
void bedrock_read(void *state, struct td_str name, const struct json *event,
                  const struct dialect_out *out);

#endif
