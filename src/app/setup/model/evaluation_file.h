/* Verdicts of `tandem quant-eval --gate` on models, in the state folder: evaluations/DIGEST.json.
 * DIGEST is that of what identifies the model (model_identity.h), so a model that has changed has
 * none. No state; any thread. */
#ifndef APP_EVALUATION_FILE_H
#define APP_EVALUATION_FILE_H

#include "router/judge/confidence_model.h"

struct json;

enum evaluation_verdict { EVALUATION_NONE, EVALUATION_REFUSED, EVALUATION_PASSED };

#define EVALUATION_DAY_BYTES 11 /* "2026-11-27" */

/* The newest verdict on the model; EVALUATION_NONE also for a file that cannot be read. */
enum evaluation_verdict evaluation_file_find(const char *state_dir,
                                             const struct confidence_binding *identity,
                                             char day[static EVALUATION_DAY_BYTES]);

/* Replaces the verdict; makes the folders. result: what was measured, kept with it. */
TD_MUST_CHECK enum td_status evaluation_file_write(const char *state_dir,
                                                   const struct confidence_binding *identity,
                                                   enum evaluation_verdict verdict,
                                                   const struct json *result, struct td_error *err);

#endif
