/* A model file that is open, with what runs it: the scheduler of a local tier, the smaller model
 * that guesses ahead, the model for requests that bring tools, and the service of embeddings. A
 * file NAME-tools.gguf beside NAME.gguf is such a model for tools. It is counted by its users: each
 * snapshot that has it, so that answers under way keep the model with which they began. Any thread
 * may hold and drop; the last drop closes it. */
#ifndef APP_LOCAL_MODEL_H
#define APP_LOCAL_MODEL_H

#include "app/config/config.h"
#include "router/judge/confidence_model.h"
#include "tandem/engine.h"

#include <stdatomic.h>

#define LOCAL_MODEL_PATH_BYTES 4096
#define LOCAL_MODEL_KEY_BYTES 65

struct embedding_service;
struct scheduler;

/* What it is opened for. */
struct local_model_use {
    const struct config *config; /* its section engine */
    const char *draft_path;      /* NULL = none */
    enum td_cpu cpu;
    uint32_t context_max; /* of a sequence, when the configuration says nothing */
    uint32_t idle_ms;     /* as in scheduler_options */
    bool is_own;          /* a tier's own: the model's settings in `engine` are another's */
    bool generates;       /* has a scheduler */
    bool embeds;          /* has a service of embeddings */
    bool warm;            /* computes a token before it counts as open */
    bool for_tools;       /* of another model, so it has none beside itself */
};

/* Immutable but for the count. */
struct local_model {
    atomic_uint users;
    char path[LOCAL_MODEL_PATH_BYTES];
    char key[LOCAL_MODEL_KEY_BYTES]; /* local_model_key */
    struct td_model *model;
    struct td_model *draft; /* NULL = none */
    struct scheduler *scheduler;
    struct local_model *for_tools; /* answers requests that bring tools; NULL = this one does */
    struct embedding_service *embeddings;
    struct confidence_binding identity;
    uint32_t context_tokens; /* of one sequence */
    enum td_kv_type kv_type; /* engine.kv_type, or what the model bears instead */
};

/* The path of the model for tools that belongs to a model's file. False: there is none. */
bool local_model_tools_beside(const char *path, char out[static LOCAL_MODEL_PATH_BYTES]);

/* Names the file as it is now and all settings that shape what is opened: the same key, the same
 * thing. */
void local_model_key(const char *path, const struct local_model_use *use,
                     char out[static LOCAL_MODEL_KEY_BYTES]);

/* **returns new** with one user (local_model_drop). Takes as long as reading the file. A draft
 * model that cannot be used is left out and logged, and so is a model for tools. TD_CORRUPT: also
 * when the first token cannot be computed. */
TD_MUST_CHECK enum td_status local_model_open(const char *path, const struct local_model_use *use,
                                              struct local_model **out, struct td_error *err);
struct local_model *local_model_hold(struct local_model *model); /* NULL gives NULL */
void local_model_drop(struct local_model *model);                /* accepts NULL */
bool local_model_is_shared(const struct local_model *model);     /* there is another user */

#endif
