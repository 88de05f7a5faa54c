/* Reads from an open model what identifies it, so that a confidence model is used with no other
 * (router/judge/confidence_model.h). That is its name, quantisation and folder, samples of its
 * weights, and what its chat template and tokenizer make of fixed texts. So a program that renders
 * differently is noticed too. */
#ifndef APP_MODEL_IDENTITY_H
#define APP_MODEL_IDENTITY_H

#include "router/judge/confidence_model.h"
#include "tandem/engine.h"

/* path: the model's file. Reads at most 1 MiB of it. */
TD_MUST_CHECK enum td_status model_identity_read(const struct td_model *model, const char *path,
                                                 struct confidence_binding *out,
                                                 struct td_error *err);

/* The same of a server's model: the tier's name of it, and what the server says of itself
 * (tier_piece.server_identity). What is inside of a server is not known. */
void model_identity_of_server(const char *model, uint64_t server_identity,
                              struct confidence_binding *out);

#endif
