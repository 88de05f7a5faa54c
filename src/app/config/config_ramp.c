/* A ramp that could never move anybody, or would move everybody at once, is a mistake that nobody
 * would see. So its tier must be on the route and must not be the start already, and its steps must
 * grow. */
#include "app/config/config_ramp.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each step takes about five times as many users as the one before, so that a loss is seen
 * before many users have it. */
static const double steps_usual[] = {1, 5, 20, 50, 100};

static bool read_step(const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out) && *out > 0 && *out <= 100;
}

static enum td_status check_steps(const struct config *config, const struct config_route *route,
                                  struct td_error *err)
{
    double before = 0, step;
    for (size_t i = 0; i < route->ramp.steps.count; i++) {
        const char *text = route->ramp.steps.items[i];
        if (!read_step(text, &step))
            return error_set(
                err, TD_INVALID,
                "%s:%u: ramp.steps of route '%.60s': a step must be a percentage above 0 "
                "and at most 100, not '%.40s'",
                config->label, route->line, route->name, text);
        if (!(step > before))
            return error_set(err, TD_INVALID,
                             "%s:%u: ramp.steps of route '%.60s': each step must be larger than "
                             "the one before; %g is not",
                             config->label, route->line, route->name, step);
        before = step;
    }
    return TD_OK;
}

enum td_status config_ramp_check(const struct config *config, const struct config_route *route,
                                 struct td_error *err)
{
    ASSERT(route->tiers.count > 0);
    const char *to = route->ramp.to, *wrong = NULL;
    const char *start = route->start ? route->start : route->tiers.items[0];
    if (!to)
        return route->ramp.steps.count == 0
                   ? TD_OK
                   : error_set(err, TD_INVALID,
                               "%s:%u: ramp.steps of route '%.60s' need ramp.to, the tier that is "
                               "tried",
                               config->label, route->line, route->name);
    if (!config_route_lists(route, to))
        wrong = "is not one of the tiers of the route";
    else if (strcmp(to, start) == 0)
        wrong = "is the tier on which the route starts anyway";
    else if (route->mode != TD_MODE_AUTO)
        wrong = "would never be tried, because the mode of the route decides where requests start";
    if (wrong)
        return error_set(err, TD_INVALID, "%s:%u: ramp.to of route '%.60s': '%.60s' %s",
                         config->label, route->line, route->name, to, wrong);
    return check_steps(config, route, err);
}

static bool is_on_device(const struct config *config, const char *name)
{
    const struct config_tier *tier = config_tier_find(config, name);
    return tier && tier->place == TD_PLACE_DEVICE;
}

void config_ramp_read(const struct config *config, const struct config_route *route,
                      struct ramp_plan *out)
{
    *out = (struct ramp_plan){.step_count = 0};
    if (!route->ramp.to)
        return;
    const char *start = route->start ? route->start : route->tiers.items[0];
    bool shadowed = route->shadow_edge_share > 0 || route->shadow_cloud_share > 0;
    size_t usual = sizeof steps_usual / sizeof *steps_usual, given = route->ramp.steps.count;
    out->judged_min = route->ramp.judged_min;
    out->disagreement_max = route->ramp.disagreement_max;
    out->loss_margin = route->ramp.loss_margin;
    /* Shadows compare the device with a tier elsewhere. */
    out->needs_agreement =
        shadowed && is_on_device(config, route->ramp.to) != is_on_device(config, start);
    out->step_count = (uint32_t)(given ? given : usual);
    for (size_t i = 0; i < usual && !given; i++)
        out->steps[i] = steps_usual[i];
    for (size_t i = 0; i < given && i < RAMP_STEPS_MAX; i++)
        if (!read_step(route->ramp.steps.items[i], &out->steps[i]))
            out->step_count = 0; /* was checked */
}
