/* What the traffic of a cloud would come to on the device: which questions the router would give to
 * it, what that saves, and how much of that the device gets right. Where a question goes is the
 * classifier's word; what is right is measured. One thread. */
#ifndef APP_AUDIT_H
#define APP_AUDIT_H

#include "base/core/error.h"
#include "router/judge/classifier.h"
#include "router/learn/bootstrap.h"

struct ledger_reader;
struct tier_answers;

#define AUDIT_LINES_MAX 1000000u
/* Fewer outcomes than that say nothing of a task. */
#define AUDIT_OUTCOMES_MIN 10
#define AUDIT_ALL_TASKS (CLASSIFIER_TASKS_MAX + 1)

/* Columns of a line, of which means and intervals are printed. */
enum audit_column { AUDIT_COST, AUDIT_SAVING, AUDIT_MOVED, AUDIT_COLUMN_COUNT };

struct audit_outcomes {
    size_t count;
    double right;
};

struct audit_task {
    size_t lines, moved;
    double saving;
    struct audit_outcomes measured;
};

/* What is asked of the device, and what came of it. */
struct audit_asking {
    struct tier_answers *tier; /* NULL = nothing is asked. **borrows** */
    size_t moving;             /* lines that would move */
    size_t candidates;         /* of them those whose answer is known */
    size_t asked, failed;
    struct td_error why; /* of the first that failed */
};

struct audit {
    const struct classifier *classifier; /* **borrows** */
    double bar, in_usd_per_token, out_usd_per_token;
    /* of each line: [count, AUDIT_COLUMN_COUNT] */
    double *rows;
    uint8_t *tasks_to_ask; /* [count] 0 = nothing is asked; else 1 + its place in tasks */
    size_t count, capacity;
    struct audit_task tasks[CLASSIFIER_TASKS_MAX + 1]; /* the last: none */
    struct utterance utterance;
    struct features features;
    struct classifier_work work;
    struct bootstrap_interval intervals[AUDIT_COLUMN_COUNT];
    struct audit_outcomes measured; /* of all tasks */
    struct audit_asking asking;
};

/* A JSON object a line: "text", "prompt" or "messages", and perhaps "answer" and numbers. Lines
 * that cannot be read are an error with their number. */
TD_MUST_CHECK enum td_status audit_read_lines(struct audit *audit, struct td_str lines,
                                              struct td_error *err);
/* Takes what is right from the outcomes in the ledger, */
TD_MUST_CHECK enum td_status audit_read_ledger(struct audit *audit, struct ledger_reader *reader,
                                               uint64_t since_wall_ms, struct td_error *err);
/* or asks audit->asking.tier at most `most` of the lines that would move and have an answer. */
TD_MUST_CHECK enum td_status audit_ask(struct audit *audit, struct td_str lines, size_t most,
                                       struct td_error *err);

struct audit_share {
    bool known;
    double mean, low, high;
};

/* How much of a task the device gets right; or of AUDIT_ALL_TASKS. */
struct audit_share audit_right_of(const struct audit *audit, size_t task);

void audit_deinit(struct audit *audit);

#endif
