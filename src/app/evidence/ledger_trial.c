/* Held out by time, because that is how a classifier is used: on what comes after it was trained. A
 * text stands in one line only, so none is on both sides. */
#include "app/evidence/ledger_trial.h"

#include "app/evidence/probe_fit.h"
#include "app/setup/policy/classifier_file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "router/learn/json_lines.h"
#include "router/learn/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define HELD_SHARE 5 /* one line in so many */
/* Fewer say nothing. */
#define HELD_MIN 10

struct scoring {
    const struct classifier *classifier;
    double *scores;
    bool *right; /* [count] */
    size_t count;
    double miss; /* sum of squares */
    struct utterance utterance;
    struct features features;
    struct classifier_work work;
};

static enum td_status score_line(void *ctx, const struct json *line, struct td_error *err)
{
    struct scoring *scoring = ctx;
    const struct json *label = json_get(line, "local_ok");
    struct verdict verdict;
    (void)err;
    if (json_kind_of(label) == JSON_KIND_ABSENT)
        return TD_OK;
    double right = json_number(label, 0);
    utterance_read_text(json_text(json_get(line, "text")), &scoring->utterance);
    features_read(&scoring->utterance, &scoring->features);
    classifier_judge(scoring->classifier, &scoring->utterance, &scoring->features, &scoring->work,
                     &verdict);
    scoring->scores[scoring->count] = (double)verdict.p_local;
    scoring->right[scoring->count++] = right >= 0.5;
    scoring->miss += ((double)verdict.p_local - right) * ((double)verdict.p_local - right);
    return TD_OK;
}

static enum td_status score(const char *path, struct td_str held, size_t lines,
                            struct ledger_trial_figures *out, size_t *count, struct td_error *err)
{
    struct classifier *classifier = NULL;
    struct scoring *scoring = calloc(1, sizeof *scoring);
    *out = (struct ledger_trial_figures){(double)NAN, (double)NAN};
    enum td_status status = classifier_file_open(path, &classifier, err);
    if (scoring) {
        scoring->classifier = classifier;
        scoring->scores = calloc(lines, sizeof *scoring->scores);
        scoring->right = calloc(lines, sizeof *scoring->right);
    }
    if (status == TD_OK && (!scoring || !scoring->scores || !scoring->right))
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu lines", lines);
    if (status == TD_OK && classifier_has(classifier, OUTCOME_LOCAL)) {
        status = json_lines_each(held, score_line, scoring, err);
        *count = scoring->count;
        if (scoring->count) {
            out->auroc = probe_auroc(scoring->scores, scoring->right, scoring->count);
            out->error = scoring->miss / (double)scoring->count;
        }
    }
    classifier_close(classifier);
    if (scoring) {
        free(scoring->scores);
        free(scoring->right);
    }
    free(scoring);
    return status;
}

/* Where the newest `held` of the lines begin. */
static size_t held_from(const struct ledger_lines *lines, size_t held)
{
    size_t at = lines->begin;
    for (size_t i = held; i < lines->count; i++)
        at = str_find(buf_view(&lines->text), STR("\n"), at) + 1;
    return at;
}

enum td_status ledger_trial_run(const struct ledger_lines *lines, uint64_t seed, const char *path,
                                const char *today, struct ledger_trial *out, struct td_error *err)
{
    size_t held = lines->count / HELD_SHARE, counted = 0;
    struct examples examples = {0};
    struct train_report report;
    char trial_path[PATH_BYTES];
    *out = (struct ledger_trial){0};
    if (held < HELD_MIN)
        return TD_OK;
    enum td_status status = path_format(trial_path, sizeof trial_path, err, "%s.trial", path);
    if (status != TD_OK)
        return status;
    struct td_str all = buf_view(&lines->text), test;
    size_t from = held_from(lines, held);
    test = str_slice(all, from, all.len);
    status = examples_read(str_slice(all, 0, from), &examples, err);
    if (status == TD_OK)
        status = train_classifier(&examples, &(struct train_options){.seed = seed}, trial_path,
                                  &report, err);
    examples_deinit(&examples);
    if (status == TD_OK) {
        status = score(trial_path, test, held, &out->learnt, &out->count, err);
        unlink(trial_path);
    }
    if (status == TD_OK && (today || classifier_file_has_default()) &&
        !(today && strcmp(today, "none") == 0))
        status = score(today, test, held, &out->today, &counted, err);
    else
        out->today = (struct ledger_trial_figures){(double)NAN, (double)NAN};
    return status;
}

static void print_figures(const char *name, const struct ledger_trial_figures *figures)
{
    printf("  %-28s ", name);
    if (isnan(figures->error))
        printf("knows nothing of p_local\n");
    else if (isnan(figures->auroc))
        printf("mean squared error %.4f (all right or all wrong: no AUROC)\n", figures->error);
    else
        printf("AUROC %.3f, mean squared error %.4f\n", figures->auroc, figures->error);
}

void ledger_trial_print(const struct ledger_trial *trial)
{
    if (trial->count == 0) {
        printf(
            "too few lines of the ledger to hold some out: nobody knows yet what this is worth\n");
        return;
    }
    printf("the newest %zu judged lines, held out:\n", trial->count);
    print_figures("learnt from the older ones", &trial->learnt);
    print_figures("the classifier of today", &trial->today);
}

static struct json *figures_json(const struct ledger_trial_figures *figures)
{
    struct json *object = json_new_object();
    json_put(object, "auroc", json_new_double(figures->auroc));
    json_put(object, "error", json_new_double(figures->error));
    return object;
}

struct json *ledger_trial_json(const struct ledger_trial *trial)
{
    struct json *object = json_new_object();
    json_put(object, "held_out", json_new_int((int64_t)trial->count));
    json_put(object, "learnt", figures_json(&trial->learnt));
    json_put(object, "today", figures_json(&trial->today));
    return object;
}
