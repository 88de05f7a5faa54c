/* A version of a local model: all that makes it answer as it does. The ledger keeps the text once,
 * and each attempt names its id. Any thread. */
#ifndef APP_MODEL_VERSION_H
#define APP_MODEL_VERSION_H

#include "router/judge/confidence_model.h"

#define MODEL_VERSION_TEXT_BYTES 2048

struct model_version {
    char id[CONFIDENCE_DIGEST_BYTES]; /* of the text; "" = there is none */
    char text[MODEL_VERSION_TEXT_BYTES];
};

struct model_version_parts {
    const struct confidence_binding *identity;
    const struct confidence_binding *tools; /* of the model for requests with tools; or NULL */
    const char *const *adapters;            /* [adapter_count] names of those that are always on */
    size_t adapter_count;
    const char *calibration; /* the digest of what its confidence is read by; or NULL */
};

/* The text is JSON: {"model", "quantization", "fingerprint", "weights", "template", "tokenizer",
 * "tools", "adapters", "calibration"}. */
void model_version_make(const struct model_version_parts *parts, struct model_version *out);

struct ledger;
/* Puts those of now[count] into the ledger that are not among before[count] (NULL: none was); NULL
 * entries are skipped. A failure is logged. */
void model_versions_record(struct ledger *ledger, struct model_version *const *now,
                           struct model_version *const *before, size_t count);

#endif
