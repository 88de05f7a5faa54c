/* Reads judged answers row by row, so that the memory does not depend on the size of the ledger.
 * The header says why questions that left the tier are added. */
#include "app/evidence/ledger_answers.h"

#include "base/json/json.h"

#include <math.h>
#include <string.h>

struct reading {
    const struct ledger_answers_options *options;
    struct ledger_answers *out;
    struct judged_answers left;
};

static enum td_status read_row(void *ctx, const struct ledger_judged *row, struct td_error *err)
{
    struct reading *reading = ctx;
    struct json *signals = NULL;
    if (json_parse(row->signals_json, &signals, NULL) != TD_OK)
        return TD_OK; /* recorded by something else: it has no score */
    double score = row->confidence;
    const char *made_by = json_cstr(json_get(signals, "confidence_model"));
    if (reading->options->gate != THRESHOLD_G3)
        score = json_number(json_get(signals, thresholds_score_name(reading->options->gate)),
                            (double)NAN);
    else if (strcmp(made_by ? made_by : "", reading->options->confidence) != 0)
        score = (double)NAN;
    struct td_str task = json_text(json_get(signals, "task"));
    enum td_status status = TD_OK;
    if (!(score >= 0 && score <= 1)) {
        json_free(signals);
        return TD_OK;
    }
    if (!row->kept) {
        reading->out->left++;
        status = judged_answers_add(&reading->left, score, 0, task, err);
    } else {
        reading->out->kept++;
        if (!isnan(row->score)) {
            reading->out->judged++;
            status = judged_answers_add(&reading->out->answers, score, row->score, task, err);
        }
    }
    json_free(signals);
    return status;
}

/* Every (kept / judged)th of those that left. */
static enum td_status add_left(struct reading *reading, struct td_error *err)
{
    struct ledger_answers *out = reading->out;
    uint64_t sum = 0;
    for (size_t i = 0; i < reading->left.count; i++) {
        const struct judged_answer *answer = &reading->left.items[i];
        struct td_str task = {NULL, 0};
        if (answer->task >= 0)
            task = (struct td_str){reading->left.task_names[answer->task],
                                   strlen(reading->left.task_names[answer->task])};
        sum += out->judged;
        if (sum < out->kept)
            continue;
        sum -= out->kept;
        enum td_status status = judged_answers_add(&out->answers, answer->score, 0, task, err);
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

enum td_status ledger_answers_read(struct ledger_reader *reader,
                                   const struct ledger_answers_options *options,
                                   struct ledger_answers *out, struct td_error *err)
{
    memset(out, 0, sizeof *out);
    struct reading reading = {.options = options, .out = out};
    enum td_status status =
        ledger_reader_judged(reader, options->since_wall_ms, read_row, &reading, err);
    if (status == TD_OK && out->judged > 0)
        status = add_left(&reading, err);
    judged_answers_deinit(&reading.left);
    return status;
}

void ledger_answers_deinit(struct ledger_answers *answers)
{
    judged_answers_deinit(&answers->answers);
}
