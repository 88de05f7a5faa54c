/* The models of a configuration: one for each local tier, and one for embeddings if that has a
 * model of its own. A model that cannot be had leaves the place to another one, or its tier stays
 * empty with the reason; neither stops the rest. */
#ifndef APP_ENGINE_SETUP_H
#define APP_ENGINE_SETUP_H

#include "app/config/config.h"
#include "app/setup/model/local_model.h"
#include "app/setup/model/model_policy.h"
#include "router/plan/facts.h"

#define ENGINE_TIER_BYTES 72 /* of a tier's name, which has at most 64 */

/* What stands behind one local tier. */
struct engine_tier {
    char name[ENGINE_TIER_BYTES];
    bool is_own;               /* its model is its own, not engine.model */
    struct local_model *model; /* one user; NULL = the tier has none */
    bool is_faulty;            /* `fault` says why it does not run what was named */
    struct model_fault fault;
    char unproven[MODEL_DOUBT_BYTES]; /* why it is not for medicine and law; "" = it is */
};

struct engine_parts {
    struct engine_tier
        tiers[CONFIG_TIERS_MAX]; /* in the order of the configuration's local tiers */
    size_t tier_count;
    struct engine_tier embedder; /* without a name: the first tier's model embeds */
};

struct engine_options {
    enum td_cpu cpu; /* TD_CPU_AUTO = the configuration's */
    bool keeps;      /* a server: it warms up, uses and writes the record of model files */
    bool stays;      /* no model leaves memory: nothing could be read later */
};

/* Opens what the configuration asks for, and takes over from `before` (NULL = nothing) what has not
 * changed. *out is to be closed (engine_setup_close) whatever happens. The status is that of the
 * first local tier that is not as it was asked for; what could be opened is there. */
enum td_status engine_setup_open(const struct config *config, const struct engine_options *options,
                                 const struct engine_parts *before, struct engine_parts *out,
                                 struct td_error *err);

/* The same without opening anything. A tier whose model has changed keeps what it had, with the
 * fault "loading". False: there is such a tier, and engine_setup_open has something to do. */
bool engine_setup_keep(const struct config *config, const struct engine_options *options,
                       const struct engine_parts *before, struct engine_parts *out);

/* For when the models of `tried` cannot be used together with the rest: its tiers with the models
 * of `now`, and a fault where that makes a difference. *out is to be closed. */
void engine_setup_fall_back(const struct engine_parts *tried, const struct engine_parts *now,
                            struct engine_parts *out);

/* One more user of each model. *out is to be closed, too. */
void engine_setup_copy(const struct engine_parts *from, struct engine_parts *out);
void engine_setup_close(struct engine_parts *parts);

/* The tier's place in parts, or NULL. */
const struct engine_tier *engine_setup_find(const struct engine_parts *parts, const char *tier);
/* The path of the model that runs in the place of engine.model, or NULL. */
const char *engine_setup_path(const struct engine_parts *parts);
/* The first tier that has a model, or NULL. */
const struct local_model *engine_setup_main(const struct engine_parts *parts);
/* The service of embeddings, or NULL. */
struct embedding_service *engine_setup_embeddings(const struct engine_parts *parts);

#endif
