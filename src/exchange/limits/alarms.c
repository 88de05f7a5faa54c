/* A list of fixed size, oldest first. */
#include "exchange/limits/alarms.h"

#include "base/time/log.h"

#include <inttypes.h>
#include <string.h>

const char *watch_kind_name(enum watch_kind kind)
{
    static const char *const names[WATCH_KIND_COUNT] = {
        [WATCH_ESCALATION_SHARE] = "escalation_share",
        [WATCH_CALLER_SHARE] = "caller_share",
        [WATCH_CALLER_CAPPED] = "caller_capped",
        [WATCH_SCORES] = "score_distribution",
        [WATCH_OVERCONFIDENT] = "overconfident",
        [WATCH_UNDERCONFIDENT] = "underconfident",
        [WATCH_SURE_WRONG] = "sure_wrong",
        [WATCH_RAMP_STOPPED] = "ramp_stopped",
        [WATCH_BUDGET_SPENT] = "budget_spent",
        [WATCH_TIER_RESTING] = "tier_resting",
        [WATCH_OBJECTIVE_BURN] = "objective_burn",
    };
    return (size_t)kind < WATCH_KIND_COUNT ? names[kind] : "unknown";
}

/* Room for one more: the oldest one that has ended goes, otherwise the oldest. */
static struct watch_alarm *make_room(struct alarms *alarms)
{
    if (alarms->count == WATCH_ALARMS_MAX) {
        size_t gone = 0;
        while (gone < WATCH_ALARMS_MAX && alarms->items[gone].end_wall_ms == 0)
            gone++;
        if (gone == WATCH_ALARMS_MAX)
            gone = 0;
        memmove(&alarms->items[gone], &alarms->items[gone + 1],
                (WATCH_ALARMS_MAX - gone - 1) * sizeof *alarms->items);
        alarms->count--;
    }
    return &alarms->items[alarms->count++];
}

static struct watch_alarm *find_orphan(struct alarms *alarms, const struct watch_alarm *like)
{
    for (size_t i = 0; i < alarms->count; i++) {
        struct watch_alarm *alarm = &alarms->items[i];
        if (alarm->orphan && alarm->kind == like->kind &&
            strcmp(alarm->caller, like->caller) == 0 && strcmp(alarm->subject, like->subject) == 0)
            return alarm;
    }
    return NULL;
}

uint64_t alarms_begin(struct alarms *alarms, const struct watch_alarm *alarm)
{
    struct watch_alarm *own = find_orphan(alarms, alarm);
    if (own) {
        own->orphan = false;
        return own->number;
    }
    own = make_room(alarms);
    *own = *alarm;
    own->number = ++alarms->number;
    alarms->begun[alarm->kind]++;
    log_event(LOG_LEVEL_WARN, "alarm_begun",
              "alarm=%" PRIu64 " kind=%s caller=%s subject=%s text=\"%s\"", own->number,
              watch_kind_name(own->kind), own->caller, own->subject, own->text);
    return own->number;
}

static void end(struct watch_alarm *alarm, uint64_t wall_ms)
{
    alarm->end_wall_ms = wall_ms;
    alarm->orphan = false;
    log_event(LOG_LEVEL_WARN, "alarm_ended", "alarm=%" PRIu64 " kind=%s caller=%s subject=%s",
              alarm->number, watch_kind_name(alarm->kind), alarm->caller, alarm->subject);
}

void alarms_end(struct alarms *alarms, uint64_t number, uint64_t wall_ms)
{
    for (size_t i = 0; i < alarms->count; i++)
        if (alarms->items[i].number == number && alarms->items[i].end_wall_ms == 0)
            end(&alarms->items[i], wall_ms);
}

void alarms_orphan(struct alarms *alarms)
{
    for (size_t i = 0; i < alarms->count; i++)
        alarms->items[i].orphan = alarms->items[i].end_wall_ms == 0;
}

void alarms_end_orphans(struct alarms *alarms, uint64_t wall_ms)
{
    for (size_t i = 0; i < alarms->count; i++)
        if (alarms->items[i].orphan)
            end(&alarms->items[i], wall_ms);
}
