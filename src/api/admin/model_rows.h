/* Every name that a request's `model` may have, as far as its key may use it: routes and their
 * aliases, tiers, and the models and adapters of the tiers. */
#ifndef API_MODEL_ROWS_H
#define API_MODEL_ROWS_H

#include "api/http/api_internal.h"
#include "base/key_terms.h"
#include "router/plan/model_names.h"

#define MODEL_ROWS_MAX 1024

struct model_row {
    const char *id;
    const char *kind;               /* "route", "alias", "tier", "model", "adapter", "embeddings" */
    const struct route *route;      /* NULL for what is one tier's */
    const struct tier_facts *facts; /* NULL for a route and for embeddings */
};

struct model_rows {
    struct exchange_services *services;
    struct model_names names;
    struct tier_facts facts[RUNGS_MAX];
    struct key_terms terms; /* of the key, whose list `names` has */
    struct model_row rows[MODEL_ROWS_MAX];
    size_t count;
};

/* Each name once: the first that has it keeps it. The rows **borrow** the services and the list. */
void model_rows_collect(struct api *api, struct exchange_services *services,
                        struct model_rows *list);

#endif
