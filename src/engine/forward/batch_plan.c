/* Decides who gets how many rows of the next forward pass. The cost of a pass is measured as it
 * runs: how long passes of n streams take, and what a row of a prompt adds. From that follows how
 * many rows of prompts fit without making the streams wait too long. All of it is plain data, so
 * that every rule has a test without a model or a clock. */
#include "engine/forward/batch_plan.h"

#include "base/core/assertion.h"

/* Weight of a new pass in the moving averages. They remember about five passes, so they follow a
 * growing context and forget a disturbance. */
#define PACE_WEIGHT 0.2
/* A pass with prompts may take this many times as long as one of streams. It is less than the
 * promised 2, because passes vary. */
#define PACE_STRETCH 1.75
/* Passes with fewer rows say little about what a further row costs. */
#define PACE_LARGE_ROWS 48
/* Rows of prompts before a pass with both kinds was measured. */
#define PROMPT_ROWS_UNKNOWN 16
/* Fewer rows would only slow long prompts down: if memory bandwidth is the limit, this many cost
 * little more than one. */
#define PROMPT_ROWS_MIN 6
#define PROMPT_ROWS_MAX 65536
#define BATCH_SHARE_DIVISOR 4
/* Most rows of spare prompts in a pass: two panels of tokens, which take milliseconds if memory
 * bandwidth is the limit. */
#define SPARE_ROWS_MAX 32

/* --- pace --- */

static void move(double *average, double value)
{
    /* A pass that lost its core says nothing about the next one. */
    if (*average > 0 && value > 4 * *average)
        value = 4 * *average;
    *average += *average == 0 ? value : PACE_WEIGHT * (value - *average);
}

static void move_point(struct pace_point *point, uint32_t rows, double ms)
{
    move(&point->rows, rows);
    move(&point->ms, ms);
}

/* Interpolated from measured passes. Outside the measured range, half of the time is taken to grow
 * with the rows. */
double pace_streams_ms(const struct pace *pace, uint32_t count)
{
    uint32_t low = count < PACE_STREAMS_MAX ? count : PACE_STREAMS_MAX, high = low;
    while (low > 0 && pace->streams_ms[low] == 0)
        low--;
    while (high <= PACE_STREAMS_MAX && pace->streams_ms[high] == 0)
        high++;
    bool is_low = low > 0, is_high = high <= PACE_STREAMS_MAX;
    if (is_low && is_high && low < high)
        return pace->streams_ms[low] +
               (pace->streams_ms[high] - pace->streams_ms[low]) * (count - low) / (high - low);
    if (is_low)
        return pace->streams_ms[low] * (0.5 + 0.5 * count / low);
    return is_high ? pace->streams_ms[high] * (0.5 + 0.5 * count / high) : 0;
}

void pace_note(struct pace *pace, uint32_t stream_rows, uint32_t prompt_rows, double ms)
{
    if (prompt_rows == 0 && stream_rows <= PACE_STREAMS_MAX)
        move(&pace->streams_ms[stream_rows], ms);
    else if (stream_rows == 0 && prompt_rows >= PACE_LARGE_ROWS)
        move_point(&pace->prompts, prompt_rows, ms);
    else if (stream_rows != 0 && prompt_rows != 0)
        move_point(&pace->both, stream_rows + prompt_rows, ms);
    /* What the streams beside it cost is not the prompts'. */
    if (prompt_rows != 0) {
        double rest_ms = ms - pace_streams_ms(pace, stream_rows);
        move(&pace->prompt_row_ms, (rest_ms > 0 ? rest_ms : 0.1 * ms) / prompt_rows);
    }
}

/* The cost of one more row beside streams: the slope from there to the passes of prompts alone. */
static double row_ms(const struct pace *pace)
{
    const struct pace_point *both = &pace->both, *many = &pace->prompts;
    double usual = 0.5 * both->ms / both->rows;
    if (many->rows < both->rows + PACE_LARGE_ROWS)
        return usual;
    double slope = (many->ms - both->ms) / (many->rows - both->rows);
    return slope > 0.2 * usual ? slope : 0.2 * usual;
}

uint32_t pace_prompt_rows(const struct pace *pace, uint32_t stream_rows, uint32_t job_count)
{
    ASSERT(stream_rows > 0);
    double target_ms = PACE_STRETCH * pace_streams_ms(pace, job_count), each_ms;
    if (target_ms <= 0 || pace->both.rows == 0 || (each_ms = row_ms(pace)) <= 0)
        return PROMPT_ROWS_UNKNOWN;
    double rows = pace->both.rows + (target_ms - pace->both.ms) / each_ms - stream_rows;
    if (!(rows > PROMPT_ROWS_MIN))
        return PROMPT_ROWS_MIN;
    return rows > PROMPT_ROWS_MAX ? PROMPT_ROWS_MAX : (uint32_t)rows;
}

/* --- one pass --- */

/* The entries that get rows, and their order. */
struct pick {
    struct plan_entry *entries;
    uint32_t count;
    enum td_priority priority;
    bool streams, prompts; /* which kinds */
    bool by_order;         /* first come, first served; otherwise least recently served first */
};

static bool is_before(const struct plan_entry *a, const struct plan_entry *b, bool by_order)
{
    if (!by_order && a->served_last != b->served_last)
        return a->served_last < b->served_last;
    return a->order < b->order;
}

/* The next entry; NULL = no more. There are a few hundred slots at most, so a search through all of
 * them costs nothing compared with a pass. */
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

/* Gives at most `max` rows; returns how many. */
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

/* Rounds the rows of prompts so that they and the streams fill whole units. It rounds down, because
 * the streams would wait for added rows, unless too few rows would remain. Less than one unit stays
 * as it is: deep in a long prompt attention is the cost, which has no units. */
static uint32_t fill_units(uint32_t stream_rows, uint32_t prompt_rows, uint32_t row_unit)
{
    uint32_t over = (stream_rows + prompt_rows) % row_unit;
    if (over == 0 || stream_rows + prompt_rows < row_unit)
        return prompt_rows;
    if (prompt_rows >= over + PROMPT_ROWS_MIN)
        return prompt_rows - over;
    return prompt_rows + row_unit - over;
}

/* Gives rows to interactive work; returns how many. *share: how many its prompts could have had. */
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

/* Gives the remaining rows to batch work. If nobody else waits (`alone`), streams come first and
 * then prompts in their order, because that ends jobs soonest. */
static uint32_t give_batch(struct plan_entry *entries, uint32_t count, uint32_t max, bool alone)
{
    struct pick any = {entries, count, TD_PRIORITY_BATCH, true, true, false};
    struct pick streams = {entries, count, TD_PRIORITY_BATCH, true, false, false};
    struct pick prompts = {entries, count, TD_PRIORITY_BATCH, false, true, true};
    if (!alone)
        return give(&any, max);
    uint32_t given = give(&streams, max);
    return given + give(&prompts, max - given);
}

static void give_spare(struct plan_entry *entries, uint32_t count, uint32_t max)
{
    struct pick streams = {entries, count, TD_PRIORITY_SPARE, true, false, false};
    struct pick prompts = {entries, count, TD_PRIORITY_SPARE, false, true, true};
    if (give(&streams, max) == 0)
        give(&prompts, max < SPARE_ROWS_MAX ? max : SPARE_ROWS_MAX);
}

struct plan plan_batch(struct plan_entry *entries, uint32_t count, struct plan_limits limits,
                       const struct pace *pace)
{
    ASSERT(limits.row_max > 0 && limits.row_unit > 0);
    uint32_t row_max = limits.row_max;
    for (uint32_t i = 0; i < count; i++)
        entries[i].rows = 0;
    /* The batch job that has waited longest always gets its turn. */
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
    if (give_batch(entries, count, left, given == 0) + given == 0)
        give_spare(entries, count, row_max);
    struct plan plan = {0};
    for (uint32_t i = 0; i < count; i++)
        *(entries[i].streams ? &plan.stream_rows : &plan.prompt_rows) += entries[i].rows;
    return plan;
}

/* --- the queue --- */

/* Urgent work goes before batch work, and that before spare work. */
static int rank_of(const struct plan_waiting *waiting)
{
    return plan_is_urgent(waiting) ? 0 : waiting->priority != TD_PRIORITY_SPARE ? 1 : 2;
}

uint32_t plan_next(const struct plan_waiting *waiting, uint32_t count)
{
    ASSERT(count > 0);
    uint32_t next = 0;
    for (uint32_t i = 1; i < count; i++) {
        int order = rank_of(&waiting[i]) - rank_of(&waiting[next]);
        if (order < 0 || (order == 0 && waiting[i].turn < waiting[next].turn))
            next = i;
    }
    return next;
}

void plan_note_overtaken(struct plan_waiting *waiting, uint32_t index)
{
    if (waiting[index].priority == TD_PRIORITY_INTERACTIVE)
        for (uint32_t i = 0; i < index; i++)
            waiting[i].overtaken++;
}
