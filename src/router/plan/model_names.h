/* What a request's `model` stands for: a route, a tier, one of a tier's models or an adapter.
 *
 *   1. "auto" and no name: the caller's first route.
 *   2. An exact name: of a route, of a tier, among a route's aliases, of a tier's model, of an
 *      adapter.
 *   3. A pattern among the routes' aliases ("gpt-*"), routes in their order.
 *   4. The model that a tier has only because the configuration names none.
 *
 * Each is tried for the name as it came, then for what is left of it without what other programs
 * put around a name ("openai/auto", "models/auto", "auto:latest").
 *
 * Pure functions over borrowed data; any thread. */
#ifndef ROUTER_MODEL_NAMES_H
#define ROUTER_MODEL_NAMES_H

#include "base/core/error.h"
#include "router/plan/policy.h"

struct model_names {
    const struct policy *policy;
    const struct tier_facts *facts; /* [tier_count] */
    size_t tier_count;
    const struct app *app; /* who asks, and what it may name; NULL = everything */
    const char *models;    /* what its key may name, with commas between; NULL or "" = everything */
};

struct model_choice {
    const struct route *route;
    size_t tier;       /* that the name stands for; SIZE_MAX = any of the route's */
    const char *name;  /* of what was found; borrowed from policy or facts */
    const char *alias; /* the route's alias that took the name; NULL = none was needed */
};

/* False when nothing has the name that the caller may use. */
bool model_names_find(const struct model_names *names, const char *model, struct model_choice *out);
/* Whether the caller may use what has this name. */
bool model_names_allowed(const struct model_names *names, const char *name);
/* Whether one of the patterns, with commas between them, is the name's; "" takes any. */
bool model_names_listed(const char *patterns, const char *name);
/* "; did you mean 'auto'?", or "": the name nearest to it that the caller may use. */
struct error_suggestion model_names_suggest(const struct model_names *names, const char *model);

/* `*` stands for any text, also none; everything else for itself. */
bool model_names_match(const char *pattern, const char *name);

/* The aliases of a policy's first route where the configuration gives none: what programs ask for
 * that were written for a vendor's own models. NULL-terminated. */
extern const char *const model_names_common[];

/* Makes the facts those of one of the tier's further models; false, and nothing changes, when it
 * has none of that name. */
bool model_names_take(struct tier_facts *facts, const char *model);

#endif
