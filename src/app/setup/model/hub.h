/* Questions to a hub of models (Hugging Face, or what stands for it): which files a repository has,
 * and which repositories there are. Blocking; one thread. What a hub says is not trusted: names
 * that are no plain text are passed over. */
#ifndef APP_HUB_H
#define APP_HUB_H

#include "tandem/types.h"

#include <stdatomic.h>

#define HUB_QUANTIZATION "Q4_K_M" /* of a source that names none: the usual one */

struct json;

struct hub {
    const char *endpoint;      /* "https://huggingface.co" */
    const char *token_origin;  /* whose HF_TOKEN is */
    const char *ca_file;       /* NULL = the system's certificates */
    const atomic_bool *cancel; /* NULL = not cancellable */
};

/* Whether a source names a repository, but no file of it: hf:ORG/REPO or hf:ORG/REPO:Q4_K_M. */
bool hub_source_is_open(const char *source);
/* Makes hf:ORG/REPO:FILE.gguf of it by the repository's list of files. TD_NOT_FOUND says which
 * files there are. */
TD_MUST_CHECK enum td_status hub_resolve(const struct hub *hub, const char *source, char *out,
                                         size_t size, struct td_error *err);
/* Of a list of files (GET /api/models/ORG/REPO/tree/REV), the one that has this quantisation in its
 * name; of a model in several files, the first. `file`: room for its path. */
TD_MUST_CHECK enum td_status hub_pick_file(const struct json *tree, struct td_str quantization,
                                           char *file, size_t size, struct td_error *err);
/* Repositories with GGUF files whose names have these words, the most used first.
 * **returns new** (json_free): [{name, downloads, licence}]. */
TD_MUST_CHECK enum td_status hub_search(const struct hub *hub, const char *words, struct json **out,
                                        struct td_error *err);
/* What hub_search makes of an answer (GET /api/models?...). **returns new**, or NULL. */
struct json *hub_read_search(const struct json *answer);

#endif
