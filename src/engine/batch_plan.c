#include "engine/batch_plan.h"

/* Weight of a new pass in the moving averages: some ten passes of memory follow a growing context
 * and forget a disturbance. */
#define PACE_WEIGHT 0.1
/* Before a pass with prompts was seen. */
#define PROMPT_ROWS_UNKNOWN 16
/* Fewer would make long prompts crawl for nothing: so many rows cost little more than one where
 * memory is the bound. */
#define PROMPT_ROWS_MIN 4
#define BATCH_SHARE_DIVISOR 4

/* --- pace --- */

static void move(double *average, double value, bool first)
{
    *average += first ? value - *average : PACE_WEIGHT * (value - *average);
}

void pace_note(struct pace *pace, bool with_prompts, uint32_t rows, double ms)
{
    struct pace_point *point = with_prompts ? &pace->prompts : &pace->streams;
    bool first = point->rows == 0;
    /* One pass that lost its core says nothing about the next. */
    if (!first && ms > 8 * point->ms)
        ms = 8 * point->ms;
    move(&point->rows, rows, first);
    move(&point->ms, ms, first);
}

uint32_t pace_prompt_rows(const struct pace *pace, uint32_t stream_rows, uint32_t job_count)
{
    const struct pace_point *few = &pace->streams, *many = &pace->prompts;
    if (many->rows == 0 || few->rows == 0 || many->rows < few->rows + 1)
        return PROMPT_ROWS_UNKNOWN;
    double row_ms = (many->ms - few->ms) / (many->rows - few->rows);
    double row_ms_min = 0.1 * many->ms / many->rows; /* against a noisy slope */
    if (row_ms < row_ms_min)
        row_ms = row_ms_min;
    double fixed_ms = few->ms - row_ms * few->rows;
    /* fixed + row * (stream_rows + rows) = 2 * (fixed + row * job_count) */
    double rows =
        (fixed_ms > 0 && row_ms > 0 ? fixed_ms / row_ms : 0) + 2.0 * job_count - stream_rows;
    return rows < PROMPT_ROWS_MIN ? PROMPT_ROWS_MIN : rows > 65536 ? 65536 : (uint32_t)rows;
}

/* --- one pass --- */

/* Which entries get rows, and in which order. */
struct pick {
    struct plan_entry *entries;
    uint32_t count;
    enum td_priority priority;
    bool streams, prompts; /* which kinds */
    bool by_order;         /* first come, first served; else least recently served first */
};

static bool is_before(const struct plan_entry *a, const struct plan_entry *b, bool by_order)
{
    if (!by_order && a->served_last != b->served_last)
        return a->served_last < b->served_last;
    return a->order < b->order;
}

/* NULL = no more. A few hundred slots at most: looking through all of them for each costs nothing
 * beside a pass. */
static struct plan_entry *next_entry(const struct pick *pick, const struct plan_entry *after)
{
    struct plan_entry *best = NULL;
    for (uint32_t i = 0; i < pick->count; i++) {
        struct plan_entry *entry = &pick->entries[i];
        bool wanted = entry->streams ? pick->streams : pick->prompts;
        if (!wanted || entry->due == 0 || entry->priority != pick->priority)
            continue;
        if (after && !is_before(after, entry, pick->by_order))
            continue;
        if (best == NULL || is_before(entry, best, pick->by_order))
            best = entry;
    }
    return best;
}

/* Gives at most `max` rows; how many. */
static uint32_t give(const struct pick *pick, uint32_t max)
{
    uint32_t given = 0;
    struct plan_entry *entry = NULL;
    while (given < max && (entry = next_entry(pick, entry)) != NULL) {
        uint32_t left = max - given;
        if (entry->due <= left)
            entry->rows = entry->due;
        else if (!entry->streams)
            entry->rows = left;
        given += entry->rows;
    }
    return given;
}

/* Rows of prompts beside those of streams, so that both fill whole units. */
static uint32_t fill_units(uint32_t stream_rows, uint32_t prompt_rows, uint32_t row_unit)
{
    uint32_t over = (stream_rows + prompt_rows) % row_unit;
    if (over == 0)
        return prompt_rows;
    if (over < row_unit / 2 && prompt_rows >= over + PROMPT_ROWS_MIN)
        return prompt_rows - over;
    return prompt_rows + row_unit - over;
}

/* How many rows interactive work gets; *share: those that its prompts could have had. */
static uint32_t give_interactive(struct plan_entry *entries, uint32_t count,
                                 struct plan_limits limits, const struct pace *pace,
                                 uint32_t *share)
{
    struct pick streams = {entries, count, TD_PRIORITY_INTERACTIVE, true, false, false};
    struct pick prompts = {entries, count, TD_PRIORITY_INTERACTIVE, false, true, true};
    uint32_t job_count = 0, stream_rows = give(&streams, limits.row_max);
    for (uint32_t i = 0; i < count; i++)
        job_count += entries[i].priority == TD_PRIORITY_INTERACTIVE && entries[i].due > 0;
    *share = limits.row_max - stream_rows;
    if (stream_rows) {
        uint32_t fair = pace_prompt_rows(pace, stream_rows, job_count);
        fair = fill_units(stream_rows, fair, limits.row_unit);
        *share = fair < *share ? fair : *share;
    }
    return stream_rows + give(&prompts, *share);
}

/* What is left. With nobody waiting, streams first and then prompts as they came: that ends jobs
 * soonest. */
static void give_batch(struct plan_entry *entries, uint32_t count, uint32_t max, bool alone)
{
    struct pick any = {entries, count, TD_PRIORITY_BATCH, true, true, false};
    struct pick streams = {entries, count, TD_PRIORITY_BATCH, true, false, false};
    struct pick prompts = {entries, count, TD_PRIORITY_BATCH, false, true, true};
    if (!alone)
        give(&any, max);
    else
        give(&prompts, max - give(&streams, max));
}

struct plan plan_batch(struct plan_entry *entries, uint32_t count, struct plan_limits limits,
                       const struct pace *pace)
{
    uint32_t row_max = limits.row_max;
    for (uint32_t i = 0; i < count; i++)
        entries[i].rows = 0;
    /* The batch job that has waited longest gets its turn in any case. */
    struct pick batch = {entries, count, TD_PRIORITY_BATCH, true, true, false};
    const struct plan_entry *first = next_entry(&batch, NULL);
    uint32_t reserve = first == NULL ? 0 : first->streams ? first->due : 1;
    if (reserve > row_max / 2)
        reserve = row_max / 2;
    limits.row_max -= reserve;
    uint32_t share, given = give_interactive(entries, count, limits, pace, &share);
    uint32_t left = row_max - given;
    if (given) {
        uint32_t rest = share / BATCH_SHARE_DIVISOR;
        rest = rest > reserve ? rest : reserve;
        left = rest < left ? rest : left;
    }
    give_batch(entries, count, left, given == 0);
    struct plan plan = {0};
    for (uint32_t i = 0; i < count; i++) {
        plan.row_count += entries[i].rows;
        plan.with_prompts |= entries[i].rows > 0 && !entries[i].streams;
    }
    return plan;
}

/* --- the queue --- */

uint32_t plan_next(const struct plan_waiting *waiting, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (plan_is_urgent(&waiting[i]))
            return i;
    return 0;
}

void plan_note_overtaken(struct plan_waiting *waiting, uint32_t index)
{
    if (waiting[index].priority == TD_PRIORITY_INTERACTIVE)
        for (uint32_t i = 0; i < index; i++)
            waiting[i].overtaken++;
}
