/* Labelled lines for training: JSON objects, one a line, {"text", "local_ok", "strong_ok", "task"}.
 * The labels are true, false or a score from 0 to 1. A line may have any of them, or none: its text
 * still tells which words are common. A broken line refuses the whole file; the message has its
 * number. */
#ifndef ROUTER_EXAMPLES_H
#define ROUTER_EXAMPLES_H

#include "router/judge/classifier.h"

#define EXAMPLES_MAX 1000000u

struct example {
    size_t begin, words_end, end; /* of its n-grams in `buckets`: words first */
    float outcome[OUTCOME_COUNT]; /* NAN = no label */
    int32_t task;                 /* -1 = no label */
    struct features features;
};

struct examples {
    struct example *items;
    uint32_t *buckets; /* below 2^NGRAM_BITS_MAX */
    size_t count, capacity, bucket_count, bucket_capacity;
    char task_name[CLASSIFIER_TASKS_MAX][CLASSIFIER_TASK_BYTES]; /* in the order of the alphabet */
    size_t task_count;
};

/* Reads the text of a whole file. Buckets have NGRAM_BITS_MAX bits; a classifier with fewer bits
 * folds them. Fills *out, to be freed with examples_deinit also after a failure. TD_INVALID names
 * the line and what is wrong. */
TD_MUST_CHECK enum td_status examples_read(struct td_str jsonl, struct examples *out,
                                           struct td_error *err);
void examples_deinit(struct examples *examples);

#endif
