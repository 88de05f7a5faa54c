/* Where a model of the folder came from: NAME.gguf.json beside it. Name, source and content are one
 * identity: a record that does not fit the file of its name says nothing about it. Any thread. */
#ifndef APP_MODEL_ORIGIN_H
#define APP_MODEL_ORIGIN_H

#include "tandem/types.h"

struct model_origin {
    bool known;          /* there is a record, and it fits the file */
    bool changed;        /* there is one, but the file has another size */
    bool source_cut;     /* what may be a secret was left out of the source */
    char source[4096];   /* as it may be shown */
    char identity[4224]; /* the whole source, with a hash of what was left out */
    char sha256[65];     /* lower-case hex */
    int64_t bytes;
};

/* Reads the record of the model at `path`. */
void model_origin_read(const char *path, struct model_origin *out);
/* Writes source, source_cut, identity, sha256 and bytes. */
TD_MUST_CHECK enum td_status model_origin_write(const char *path, const struct model_origin *origin,
                                                struct td_error *err);

#endif
