/* A level is left for a stronger one only when the wall is so near that the answers under way would
 * reach it, and then for the mildest one that keeps away from it for as long as levels last. It is
 * left for a milder one when that would do the same with some degrees to spare. Both ask the model
 * and not a temperature, so a phone in the sun and one in the snow need no other numbers.
 *
 * Where even a device that has cooled down would reach its wall within the dwell time, it goes back
 * when cooling brings nothing more: some seconds at the wall are better than a phone that never
 * works. */
#include "device/ease.h"

#include "base/core/assertion.h"

#include <math.h>

/* The wall is kept off by so much: sensors and the model err. */
#define MARGIN_C 1.0
#define BACK_MARGIN_C 1.5
/* An answer of a few hundred tokens; who waits longer for the wall need not leave it yet. */
#define LEAD_S 8.0
/* Cooled down: so near to what it would be without the engine. */
#define COOLED_C 1.5
#define COOLED_MAX_S 180.0

const char *const device_level_names[] = {"usual", "warm", "hot", "wall", NULL};
const char *const device_cause_names[] = {"none", "heat", "battery", "memory", NULL};

/* What runs at a level, as a share of the usual heat. At the last two the requests go elsewhere
 * where they may; what remains is not known, and taken as little. */
static const double heat_shares[DEVICE_LEVEL_COUNT] = {1, 0.8, 0.1, 0};

double device_level_threads(enum device_level level)
{
    static const double shares[DEVICE_LEVEL_COUNT] = {1, 0.8, 0.5, 0.5};
    ASSERT(level < DEVICE_LEVEL_COUNT);
    return shares[level];
}

double device_level_exits(enum device_level level)
{
    static const double shares[DEVICE_LEVEL_COUNT] = {1, 0.95, 0.9, 0.8};
    ASSERT(level < DEVICE_LEVEL_COUNT);
    return shares[level];
}

uint32_t device_level_tokens(enum device_level level)
{
    static const uint32_t tokens[DEVICE_LEVEL_COUNT] = {0, 512, 384, 256};
    ASSERT(level < DEVICE_LEVEL_COUNT);
    return tokens[level];
}

void ease_init(struct ease *ease)
{
    *ease = (struct ease){.since_s = -(double)INFINITY};
}

static double wall_s(const struct heat_model *model, const struct heat_place *place, double use,
                     enum device_level level, double margin_c)
{
    return heat_model_wall_s(model, place->temperature_c, place->wall_c - margin_c,
                             use * heat_shares[level]);
}

/* The mildest level beyond the present one that keeps away from the wall. */
static enum device_level stronger(const struct ease *ease, const struct heat_model *model,
                                  const struct heat_place *place, double use)
{
    unsigned level = ease->level + 1u;
    while (level < DEVICE_WALL &&
           wall_s(model, place, use, (enum device_level)level, MARGIN_C) < DEVICE_DWELL_S)
        level++;
    return (enum device_level)level;
}

static bool has_cooled(const struct ease *ease, const struct heat_model *model,
                       const struct heat_place *place, double now_s)
{
    double end_c = heat_model_end_c(model, 0);
    return ease->level >= DEVICE_HOT && !place->throttled &&
           place->temperature_c < place->clear_c - BACK_MARGIN_C &&
           (place->temperature_c <= end_c + COOLED_C || now_s - ease->since_s > COOLED_MAX_S);
}

/* The mildest level that keeps away from the wall for long enough, or the present one. */
static enum device_level milder(const struct ease *ease, const struct heat_model *model,
                                const struct heat_place *place, double use, double now_s)
{
    unsigned level = DEVICE_USUAL;
    while (level < ease->level &&
           wall_s(model, place, use, (enum device_level)level, BACK_MARGIN_C) < DEVICE_DWELL_S)
        level++;
    if (level == ease->level && has_cooled(ease, model, place, now_s))
        level = DEVICE_WARM;
    return (enum device_level)level;
}

enum device_level ease_choose(struct ease *ease, const struct heat_model *model,
                              const struct heat_place *place, double use, double now_s)
{
    ASSERT(ease != NULL && model != NULL && place != NULL);
    if (now_s - ease->since_s < DEVICE_DWELL_S)
        return ease->level;
    bool near = wall_s(model, place, use, ease->level, MARGIN_C) < LEAD_S;
    enum device_level next = near && ease->level < DEVICE_WALL
                                 ? stronger(ease, model, place, use)
                                 : milder(ease, model, place, use, now_s);
    if (next != ease->level) {
        ease->level = next;
        ease->since_s = now_s;
        ease->switches++;
    }
    return ease->level;
}
