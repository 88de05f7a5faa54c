/* Files of confidence models as router.confidence names them. */
#ifndef APP_CONFIDENCE_FILE_H
#define APP_CONFIDENCE_FILE_H

#include "router/judge/confidence_model.h"

/* **returns new** (free). */
TD_MUST_CHECK enum td_status confidence_file_read(const char *path, struct confidence_model **out,
                                                  struct td_error *err);

/* Replaces the file as a whole (file_replace). */
TD_MUST_CHECK enum td_status confidence_file_write(const char *path,
                                                   const struct confidence_model *model,
                                                   unsigned mode, struct td_error *err);

/* False when the model belongs to something else than `identity`; why then says so in a
 * sentence. */
bool confidence_file_fits(const struct confidence_model *model,
                          const struct confidence_binding *identity, char why[static 160]);

/* Reads the confidence model of a tier with a server. *out is NULL when the tier names none, or one
 * of another model; why is then a sentence ("" for none). *server: what the server must say that it
 * is. */
TD_MUST_CHECK enum td_status confidence_file_of_tier(const char *path, const char *tier_model,
                                                     struct confidence_model **out,
                                                     uint64_t *server, char why[static 160],
                                                     struct td_error *err);

#endif
