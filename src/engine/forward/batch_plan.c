#include "engine/forward/batch_plan.h"

/* Weight of a new pass in the moving averages: some five passes of memory follow a growing context
 * and forget a disturbance. */
#define PACE_WEIGHT 0.2
/* Less than the two that is promised: passes vary. */
#define PACE_STRETCH 1.75
/* Passes with fewer rows say little about what a further row costs. */
#define PACE_LARGE_ROWS 48
/* Before passes with both were seen. */
#define PROMPT_ROWS_UNKNOWN 16
/* Fewer would make long prompts crawl for nothing: so many rows cost little more than one where
 * memory is the bound. */
#define PROMPT_ROWS_MIN 6
#define PROMPT_ROWS_MAX 65536
#define BATCH_SHARE_DIVISOR 4
/* Of spare prompts in a pass: one panel of tokens or two, milliseconds where memory is the bound. */
#define SPARE_ROWS_MAX 32

/* --- pace --- */

static void move(double *average, double value)
{
    /* One pass that lost its core says nothing about the next. */
    if (*average > 0 && value > 4 * *average)
        value = 4 * *average;
    *average += *average == 0 ? value : PACE_WEIGHT * (value - *average);
}

static void move_point(struct pace_point *point, uint32_t rows, double ms)
{
    move(&point->rows, rows);
    move(&point->ms, ms);
}

void pace_note(struct pace *pace, uint32_t stream_rows, uint32_t prompt_rows, double ms)
{
    if (prompt_rows == 0 && stream_rows <= PACE_STREAMS_MAX)
        move(&pace->streams_ms[stream_rows], ms);
    else if (stream_rows == 0 && prompt_rows >= PACE_LARGE_ROWS)
        move_point(&pace->prompts, prompt_rows, ms);
    else if (stream_rows != 0 && prompt_rows != 0)
        move_point(&pace->both, stream_rows + prompt_rows, ms);
}

/* Of a pass with a token of each of `count` streams, between or beside what was seen; 0 = nothing
 * was. Half of it is taken to grow with the rows. */
static double streams_ms(const struct pace *pace, uint32_t count)
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

/* What a further row costs beside streams: from there to the passes of prompts alone. */
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
    double target_ms = PACE_STRETCH * streams_ms(pace, job_count), each_ms;
    if (target_ms <= 0 || pace->both.rows == 0 || (each_ms = row_ms(pace)) <= 0)
        return PROMPT_ROWS_UNKNOWN;
    double rows = pace->both.rows + (target_ms - pace->both.ms) / each_ms - stream_rows;
    if (!(rows > PROMPT_ROWS_MIN))
        return PROMPT_ROWS_MIN;
    return rows > PROMPT_ROWS_MAX ? PROMPT_ROWS_MAX : (uint32_t)rows;
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

/* Rows of prompts beside those of streams, so that both fill whole units: fewer, as the streams
 * would wait for what is added, unless too few remain. A part of the first unit is left as it is:
 * there the attention is what costs, deep in a long prompt. */
static uint32_t fill_units(uint32_t stream_rows, uint32_t prompt_rows, uint32_t row_unit)
{
    uint32_t over = (stream_rows + prompt_rows) % row_unit;
    if (over == 0 || stream_rows + prompt_rows < row_unit)
        return prompt_rows;
    if (prompt_rows >= over + PROMPT_ROWS_MIN)
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
    if (give_batch(entries, count, left, given == 0) + given == 0)
        give_spare(entries, count, row_max);
    struct plan plan = {0};
    for (uint32_t i = 0; i < count; i++) {
        *(entries[i].streams ? &plan.stream_rows : &plan.prompt_rows) += entries[i].rows;
    }
    return plan;
}

/* --- the queue --- */

uint32_t plan_next(const struct plan_waiting *waiting, uint32_t count)
{
    uint32_t first = count;
    for (uint32_t i = 0; i < count; i++) {
        if (plan_is_urgent(&waiting[i]))
            return i;
        if (first == count && waiting[i].priority != TD_PRIORITY_SPARE)
            first = i;
    }
    return first < count ? first : 0;
}

void plan_note_overtaken(struct plan_waiting *waiting, uint32_t index)
{
    if (waiting[index].priority == TD_PRIORITY_INTERACTIVE)
        for (uint32_t i = 0; i < index; i++)
            waiting[i].overtaken++;
}
