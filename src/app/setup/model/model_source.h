/* Where a model comes from, as it is written on the command line. */
#ifndef APP_MODEL_SOURCE_H
#define APP_MODEL_SOURCE_H

#include "tandem/types.h"

#define MODEL_NAME_BYTES 208
#define MODEL_ENDPOINT_DEFAULT "https://huggingface.co"

struct model_source {
    bool is_file; /* where is a path, not a URL */
    char where[4096];
    char name[MODEL_NAME_BYTES]; /* what it will be called, with .gguf */
};

/* "hf:ORG/REPO:FILE" (revision: @REV after REPO or FILE; default main) at `endpoint`, an http(s)
 * URL, or the path of a file that is there. `name`: what to call it, or NULL for the last part of
 * the source. TD_INVALID says which part is wrong. */
TD_MUST_CHECK enum td_status model_source_parse(const char *text, const char *endpoint,
                                                const char *name, struct model_source *out,
                                                struct td_error *err);

/* Whether a source is the path of a file: neither hf: nor an address. */
bool model_source_is_file(const char *text);

#endif
