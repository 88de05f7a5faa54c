/* What of a build is done: steps.json in its work folder. A step is known by a key, the SHA-256 of
 * the program's version, its settings and the SHA-256 of each file that it read. One owner. */
#ifndef APP_RECIPE_STATE_H
#define APP_RECIPE_STATE_H

#include "app/recipe/recipe_step.h"

#include <stdatomic.h>

#define RECIPE_DIGEST_BYTES 65

struct recipe_file {
    char *path;
    char sha256[RECIPE_DIGEST_BYTES];
    uint64_t bytes;
};

struct recipe_state {
    const char *path; /* of steps.json; borrowed */
    struct json *steps;
    struct recipe_file *files; /* [file_count]: hashed in this run */
    size_t file_count;
    const volatile sig_atomic_t *interrupted;
};

/* A file that cannot be read is an empty state. **returns new** (recipe_state_deinit). */
TD_MUST_CHECK enum td_status recipe_state_open(struct recipe_state *state, const char *path,
                                               const volatile sig_atomic_t *interrupted,
                                               struct td_error *err);
void recipe_state_deinit(struct recipe_state *state);

/* Hashes a file once. **borrows** until recipe_state_deinit. TD_CANCELLED, TD_IO, TD_NOT_FOUND. */
TD_MUST_CHECK enum td_status recipe_state_hash(struct recipe_state *state, const char *path,
                                               const struct recipe_file **out,
                                               struct td_error *err);

/* The files of an input: itself, all parts of a model in several files, or what stands in a folder
 * of weights. `visit` gets each in order. */
typedef enum td_status recipe_file_fn(void *ctx, const char *path, struct td_error *err);
TD_MUST_CHECK enum td_status recipe_each_file(const char *input, recipe_file_fn *visit, void *ctx,
                                              struct td_error *err);

TD_MUST_CHECK enum td_status recipe_state_key(struct recipe_state *state,
                                              const struct recipe_step *step,
                                              char out[static RECIPE_DIGEST_BYTES],
                                              struct td_error *err);

/* The record of a step with this key, whose output has the hash that it had; NULL = it is to be
 * done. **borrows** until the next change. */
const struct json *recipe_state_find(struct recipe_state *state, const struct recipe_step *step,
                                     const char *key);
/* Records that it is done, and writes the file. **takes** result. */
TD_MUST_CHECK enum td_status recipe_state_put(struct recipe_state *state,
                                              const struct recipe_step *step, const char *key,
                                              double seconds, struct json *result,
                                              struct td_error *err);

#endif
