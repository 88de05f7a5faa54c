/* Budgets of the configuration that several nodes have together.
 *
 * Each node keeps a row for what it has spent today of a budget, in the table that has the rows of
 * keys, and reads those of the others every second (app/setup/process/key_keeper.c). What others
 * have spent since is not known: they are taken to spend as this node does, since it told them last
 * but one, because what they told last was a second old. So two of them do not
 * together spend much more than a budget has, and while the database is away each has its share of
 * what was left.
 *
 * Where nodes share limits, each announces there what it is about to spend, a hundredth of a budget
 * at a time, as meter_shared.c does for keys. Two nodes cannot both announce the last of it. */
#include "exchange/limits/spending_internal.h"

#include "ledger/store/key_store.h"
#include "tier/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NANO 1e9 /* money is told to others in billionths of a USD */
#define PART_OF_BUDGET 0.01
/* Nodes are counted at the start and then every two seconds; each writes its row every second. */
#define COUNTS_UNTIL_TOLD 2

bool spending_share(struct spending *spending)
{
    spending->beside = calloc(spending->slot_count, sizeof *spending->beside);
    spending->nodes = 1;
    return spending->beside;
}

void spending_ask(struct spending *spending, const struct shared_limits *door)
{
    spending->door = door;
}

void spending_set_nodes(struct spending *spending, uint32_t nodes)
{
    pthread_mutex_lock(&spending->lock);
    spending->nodes = nodes ? nodes : 1;
    spending->node_counts++;
    pthread_mutex_unlock(&spending->lock);
}

static double since_told(const struct spending *spending, const struct entry *entry,
                         const struct beside *beside)
{
    uint32_t nodes = spending->nodes, seen = 0;
    if (spending->door && !spending->door->away(spending->door->ctx, &seen))
        return 0; /* others announce what they spend */
    nodes = seen > nodes ? seen : nodes;
    return (nodes - 1) * fmax(entry->spent_usd - beside->sure_usd, 0);
}

double spending_others_locked(const struct spending *spending, const struct entry *entry,
                              const struct beside *beside)
{
    return beside->before_usd + beside->others_usd + since_told(spending, entry, beside);
}

/* --- what is announced --- */

/* False: all of the budget is announced. */
static bool announce_locked(struct spending *spending, const struct entry *entry,
                            struct beside *beside, double budget, double own)
{
    char whom[KEY_SPENT_BYTES], day[11], month[11];
    double granted = 0, others = 0;
    snprintf(whom, sizeof whom, "b%016llx", (unsigned long long)entry->key);
    key_store_periods(spending_day_begin_ms(spending->clock), day, month);
    const struct shared_sum sum = {.whom = whom,
                                   .what = "usd",
                                   .period = day,
                                   .own = own,
                                   .had = NANO * (entry->spent_usd + entry->promised_usd),
                                   .more = PART_OF_BUDGET * budget,
                                   .others = NANO * (beside->others_usd + beside->before_usd),
                                   .budget = budget};
    enum shared_room room = spending->door->reach(spending->door->ctx, &sum, &granted, &others);
    if (room == SHARED_AWAY)
        return true;
    beside->others_usd = fmax(others / NANO - beside->before_usd, 0);
    beside->granted = granted;
    return room == SHARED_ROOM;
}

bool spending_fits(struct spending *spending, uint64_t key, double budget_usd, double more_usd)
{
    bool fits = true;
    pthread_mutex_lock(&spending->lock);
    spending_turn_day_locked(spending);
    struct entry *entry = spending_entry_locked(spending, key);
    struct beside *beside = spending->beside ? &spending->beside[entry - spending->slots] : NULL;
    if (beside && spending->door) {
        double own_usd = entry->spent_usd + entry->promised_usd + more_usd;
        uint32_t losses = spending->door->losses(spending->door->ctx);
        if (losses != beside->losses)
            beside->granted = 0;
        beside->losses = losses;
        if (NANO * own_usd > beside->granted)
            fits = announce_locked(spending, entry, beside, NANO * budget_usd, NANO * own_usd);
        fits = fits && own_usd + spending_others_locked(spending, entry, beside) <= budget_usd;
    }
    pthread_mutex_unlock(&spending->lock);
    return fits;
}

/* --- what is kept for others --- */

void spending_note_unsaved_locked(struct spending *spending, const struct entry *entry)
{
    size_t at = (size_t)(entry - spending->slots);
    if (!spending->beside || spending->beside[at].unsaved)
        return;
    spending->beside[at].unsaved = true;
    if (spending->unsaved_count < UNSAVED_MAX)
        spending->unsaved[spending->unsaved_count] = (uint32_t)at;
    if (spending->unsaved_count <= UNSAVED_MAX)
        spending->unsaved_count++;
}

/* Returns whether there is something to tell. Then the entry stays among those to be told until the
 * next time, when the others have told what they spent meanwhile. */
static bool take_locked(struct spending *spending, size_t at, const char *day,
                        struct key_spent *out)
{
    const struct entry *entry = &spending->slots[at];
    struct beside *beside = &spending->beside[at];
    double usd = entry->spent_usd - beside->told_usd;
    beside->sure_usd = beside->told_usd;
    beside->unsaved = usd > 0;
    if (!beside->unsaved)
        return false;
    *out = (struct key_spent){.usd = usd, .own_usd = entry->spent_usd};
    snprintf(out->whom, sizeof out->whom, "b%016llx", (unsigned long long)entry->key);
    memcpy(out->period, day, sizeof out->period);
    beside->told_usd = entry->spent_usd;
    return true;
}

/* Of a table that has more to tell than the list holds. */
static size_t take_any_locked(struct spending *spending, const char *day, struct key_spent *out,
                              size_t max)
{
    size_t count = 0;
    for (size_t at = 0; at < spending->slot_count && count < max; at++)
        if (spending->beside[at].unsaved)
            count += take_locked(spending, at, day, &out[count]);
    if (count == 0)
        spending->unsaved_count = 0;
    return count;
}

size_t spending_take(struct spending *spending, struct key_spent *out, size_t max)
{
    char day[11], month[11];
    size_t count = 0, kept = 0;
    pthread_mutex_lock(&spending->lock);
    spending_turn_day_locked(spending);
    key_store_periods(spending_day_begin_ms(spending->clock), day, month);
    if (spending->unsaved_count > UNSAVED_MAX) {
        count = take_any_locked(spending, day, out, max);
    } else {
        for (size_t i = 0; i < spending->unsaved_count; i++) {
            uint32_t at = spending->unsaved[i];
            bool told = count < max && take_locked(spending, at, day, &out[count]);
            count += told;
            if (told || spending->beside[at].unsaved)
                spending->unsaved[kept++] = at;
        }
        spending->unsaved_count = kept;
    }
    pthread_mutex_unlock(&spending->lock);
    return count;
}

/* The entry and what is beside it; NULL where there is none of that name. */
static struct entry *find_locked(struct spending *spending, const struct key_spent *spent,
                                 struct beside **beside)
{
    uint64_t key = strtoull(spent->whom + 1, NULL, 16);
    char day[11], month[11];
    key_store_periods(spending_day_begin_ms(spending->clock), day, month);
    if (!spending->beside || key == 0 || strcmp(day, spent->period) != 0)
        return NULL;
    struct entry *entry = spending_entry_locked(spending, key);
    *beside = &spending->beside[entry - spending->slots];
    return entry->key == key ? entry : NULL;
}

void spending_give_back(struct spending *spending, const struct key_spent *spent, size_t count)
{
    struct beside *beside;
    pthread_mutex_lock(&spending->lock);
    spending_turn_day_locked(spending);
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = find_locked(spending, &spent[i], &beside);
        if (!entry)
            continue;
        beside->told_usd -= spent[i].usd;
        spending_note_unsaved_locked(spending, entry);
    }
    pthread_mutex_unlock(&spending->lock);
}

void spending_hear(struct spending *spending, const struct key_spent *spent, bool first)
{
    struct beside *beside;
    pthread_mutex_lock(&spending->lock);
    spending_turn_day_locked(spending);
    struct entry *entry = find_locked(spending, spent, &beside);
    if (entry) {
        /* What was recorded before and is in no row. Soon after the start others write rows for
         * what the ledger had of them already. What they spend anew in those seconds is taken for
         * that, too, and is missing until midnight: the rows do not tell one from the other. */
        double grown_usd = spent->others_usd - beside->heard_usd;
        if (first || spending->node_counts <= COUNTS_UNTIL_TOLD)
            beside->before_usd = fmax(beside->before_usd - grown_usd, 0);
        if (first) {
            beside->before_usd = fmax(beside->before_usd - spent->own_usd, 0);
            entry->spent_usd += spent->own_usd;
            beside->told_usd += spent->own_usd;
            beside->sure_usd += spent->own_usd;
        }
        beside->others_usd = beside->heard_usd = spent->others_usd;
    }
    pthread_mutex_unlock(&spending->lock);
}
