/* With the labels sorted, the walk goes from one to the next: it keeps the tokens that both share
 * and runs the others. Each row of logits serves every label that begins with the tokens before
 * it, so it is used when it comes and not kept.
 *
 *   log p(label) = sum over i of log p(token i | prompt, tokens before i)
 *
 * as in Brown et al. 2020 (Language Models are Few-Shot Learners), section 2.4. */
#include "engine/session/label_walk.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/session/scoring.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const int32_t *ids;
    uint32_t count;
    uint32_t label;  /* its number for the caller */
    uint32_t shared; /* tokens that it begins with as the entry before it does */
    bool ends;       /* its end counts */
    uint64_t work;   /* tokens that run up to and with it */
};

struct label_plan {
    atomic_uint references;
    const struct td_model *model;
    struct entry *entries; /* [count], sorted */
    uint32_t *order;       /* [count]: the entry of each label */
    size_t count;
    int32_t *ids;     /* of all labels */
    int32_t *end_ids; /* [end_count]: the tokens that end an answer */
    size_t end_count;
    uint32_t depth;
};

/* Of the tokens of an entry, how many must run: the last one only tells what follows. */
static uint32_t need_of(const struct entry *entry)
{
    return entry->count - !entry->ends;
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    for (size_t i = 0; i < x->count && i < y->count; i++)
        if (x->ids[i] != y->ids[i])
            return x->ids[i] < y->ids[i] ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

static enum td_status check_labels(const struct td_model *model, const struct td_label *labels,
                                   size_t count, size_t *ids_total, struct td_error *err)
{
    *ids_total = 0;
    if (count == 0 || count > TD_LABELS_MAX)
        return error_set(err, TD_INVALID, "%zu labels: 1 to %d", count, TD_LABELS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (labels[i].count == 0 || labels[i].count > TD_LABEL_TOKENS_MAX)
            return error_set(err, TD_INVALID, "label %zu has %zu tokens: 1 to %d", i,
                             labels[i].count, TD_LABEL_TOKENS_MAX);
        enum td_status status =
            scoring_check_ids(model, labels[i].ids, labels[i].count, "label", err);
        if (status != TD_OK)
            return status;
        *ids_total += labels[i].count;
    }
    return TD_OK;
}

/* What an entry shares with the one before it, and whether its end counts. An entry that is equal
 * to the next one ends as that one does. */
static void link_entries(struct label_plan *plan, enum label_ends ends)
{
    for (size_t i = plan->count; i-- > 0;) {
        struct entry *entry = &plan->entries[i];
        const struct entry *next = i + 1 < plan->count ? entry + 1 : NULL;
        bool continued =
            next && next->shared == entry->count && (next->count > entry->count || next->ends);
        entry->ends = ends == LABEL_ENDS_ALL || (ends == LABEL_ENDS_SHARED && continued);
        const struct entry *before = i > 0 ? entry - 1 : NULL;
        while (before && entry->shared < entry->count && entry->shared < before->count &&
               entry->ids[entry->shared] == before->ids[entry->shared])
            entry->shared++;
        plan->order[entry->label] = (uint32_t)i;
        if (need_of(entry) > plan->depth)
            plan->depth = need_of(entry);
    }
}

/* As the walk goes. */
static void count_work(struct label_plan *plan)
{
    uint64_t work = 0;
    uint32_t depth = 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct entry *entry = &plan->entries[i];
        uint32_t need = need_of(entry);
        depth = depth < entry->shared ? depth : entry->shared;
        work += need > depth ? need - depth : 0;
        depth = need > depth ? need : depth;
        entry->work = work;
    }
}

static size_t find_ends(const struct td_model *model, int32_t *out)
{
    size_t count = 0;
    for (uint32_t id = 0; id < model->vocab_count; id++) {
        if (!tokenizer_is_end(model->tokenizer, (int32_t)id))
            continue;
        if (out)
            out[count] = (int32_t)id;
        count++;
    }
    return count;
}

enum td_status label_plan_new(const struct td_model *model, const struct td_label *labels,
                              size_t count, enum label_ends ends, struct label_plan **out,
                              struct td_error *err)
{
    ASSERT(model != NULL && out != NULL);
    size_t ids_total;
    *out = NULL;
    enum td_status status = check_labels(model, labels, count, &ids_total, err);
    if (status != TD_OK)
        return status;
    struct label_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu labels", count);
    atomic_init(&plan->references, 1);
    plan->model = model;
    plan->count = count;
    plan->end_count = ends == LABEL_ENDS_NONE ? 0 : find_ends(model, NULL);
    plan->entries = calloc(count, sizeof *plan->entries);
    plan->order = calloc(count, sizeof *plan->order);
    plan->ids = calloc(ids_total, sizeof *plan->ids);
    plan->end_ids = calloc(plan->end_count + 1, sizeof *plan->end_ids);
    if (!plan->entries || !plan->order || !plan->ids || !plan->end_ids) {
        label_plan_release(plan);
        return error_set(err, TD_NO_MEMORY, "no memory for %zu labels", count);
    }
    if (plan->end_count)
        find_ends(model, plan->end_ids);
    int32_t *ids = plan->ids;
    for (size_t i = 0; i < count; i++) {
        memcpy(ids, labels[i].ids, labels[i].count * sizeof *ids);
        plan->entries[i] =
            (struct entry){.ids = ids, .count = (uint32_t)labels[i].count, .label = (uint32_t)i};
        ids += labels[i].count;
    }
    qsort(plan->entries, count, sizeof *plan->entries, compare);
    link_entries(plan, ends);
    count_work(plan);
    *out = plan;
    return TD_OK;
}

struct label_plan *label_plan_retain(struct label_plan *plan)
{
    if (plan)
        atomic_fetch_add(&plan->references, 1);
    return plan;
}

void label_plan_release(struct label_plan *plan)
{
    if (plan == NULL || atomic_fetch_sub(&plan->references, 1) != 1)
        return;
    free(plan->entries);
    free(plan->order);
    free(plan->ids);
    free(plan->end_ids);
    free(plan);
}

size_t label_plan_count(const struct label_plan *plan)
{
    return plan->count;
}

size_t label_plan_length(const struct label_plan *plan, size_t label)
{
    const struct entry *entry = &plan->entries[plan->order[label]];
    return (size_t)entry->count + entry->ends;
}

uint32_t label_plan_depth(const struct label_plan *plan)
{
    return plan->depth;
}

uint64_t label_plan_work(const struct label_plan *plan, size_t end)
{
    ASSERT(end > 0 && end <= plan->count);
    return plan->entries[end - 1].work;
}

bool label_plan_twins(const struct label_plan *plan, size_t *first, size_t *second)
{
    for (size_t i = 1; i < plan->count; i++) {
        const struct entry *entry = &plan->entries[i];
        if (entry->shared != entry->count || entry[-1].count != entry->count)
            continue;
        *first = entry[-1].label;
        *second = entry->label;
        return true;
    }
    return false;
}

/* --- the walk --- */

void label_walk_init(struct label_walk *walk, const struct label_plan *plan, size_t begin,
                     size_t end, double *scores)
{
    ASSERT(begin < end && end <= plan->count && scores != NULL);
    *walk = (struct label_walk){
        .plan = plan, .scores = scores, .not_mine = NAN, .at = begin, .end = end};
    for (size_t i = begin; i < end; i++)
        scores[plan->entries[i].label] = 0;
}

/* Goes on to the next label that needs a token. */
static void advance(struct label_walk *walk)
{
    const struct entry *entries = walk->plan->entries;
    while (walk->at < walk->end && need_of(&entries[walk->at]) <= walk->depth) {
        if (++walk->at == walk->end)
            return;
        uint32_t shared = entries[walk->at].shared;
        walk->depth = walk->depth < shared ? walk->depth : shared;
    }
}

size_t label_walk_due(const struct label_walk *walk, size_t rows_max, const int32_t **ids)
{
    ASSERT(walk->prompt_done && rows_max > 0);
    if (walk->at == walk->end)
        return 0;
    const struct entry *entry = &walk->plan->entries[walk->at];
    size_t left = need_of(entry) - walk->depth;
    *ids = entry->ids + walk->depth;
    return left < rows_max ? left : rows_max;
}

/* Adds what the row after `depth` tokens says to every label that begins with them. Labels before
 * this one have had it. */
static void add_row(struct label_walk *walk, const float *row, double sum, uint32_t depth)
{
    const struct label_plan *plan = walk->plan;
    for (size_t i = walk->at; i < walk->end; i++) {
        const struct entry *entry = &plan->entries[i];
        if (i > walk->at && entry->shared < depth)
            return;
        if (entry->count > depth) {
            walk->scores[entry->label] += (double)row[entry->ids[depth]] - sum;
            continue;
        }
        double end = 0;
        for (size_t j = 0; entry->ends && j < plan->end_count; j++)
            end += exp((double)row[plan->end_ids[j]] - sum);
        if (entry->ends)
            walk->scores[entry->label] += log(end);
    }
}

enum td_status label_walk_take(struct label_walk *walk, const float *logits, size_t rows,
                               struct td_error *err)
{
    const struct td_model *model = walk->plan->model;
    int32_t not_mine = model->info.not_mine_id;
    for (size_t r = 0; r < rows; r++) {
        const float *row = logits + r * model->vocab_count;
        double sum;
        enum td_status status = scoring_log_sum(model, row, &sum, err);
        if (status != TD_OK)
            return status;
        walk->depth += walk->prompt_done;
        if (!walk->prompt_done && not_mine >= 0)
            walk->not_mine = exp((double)row[not_mine] - sum);
        walk->prompt_done = true;
        add_row(walk, row, sum, walk->depth);
    }
    advance(walk);
    return TD_OK;
}
