/* The models of a process and what runs them: the local tier's model with its scheduler, the model
 * that guesses ahead, and the service of embeddings. */
#ifndef APP_ENGINE_SETUP_H
#define APP_ENGINE_SETUP_H

#include "app/config/config.h"
#include "router/judge/confidence_model.h"
#include "tandem/engine.h"

struct embedding_service;
struct scheduler;

/* NULL = there is none: a configuration without a local tier has no model. */
struct engine_parts {
    struct td_model *model;
    char model_path[4096];
    struct confidence_binding identity; /* of `model` */
    uint32_t context_tokens;            /* of one sequence */
    struct scheduler *scheduler;
    struct td_model *draft_model;
    struct td_model *embedding_model; /* NULL = embeds with `model` */
    struct embedding_service *embeddings;
};

/* Opens what the configuration asks for. cpu: TD_CPU_AUTO = the configuration's. What was opened is
 * to be closed (engine_setup_close), also after a failure. */
TD_MUST_CHECK enum td_status engine_setup_open(const struct config *config, enum td_cpu cpu,
                                               struct engine_parts *out, struct td_error *err);
void engine_setup_close(struct engine_parts *parts);

#endif
