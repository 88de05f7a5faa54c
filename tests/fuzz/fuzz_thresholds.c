/* A file of thresholds and lines of judged answers: any bytes are refused with words, or become
 * what can be written, read again and tuned. */
#include "router/learn/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_file(struct td_str text)
{
    static struct thresholds one, two;
    struct td_error err = {0};
    enum td_status status = thresholds_read(text, &one, &err);
    if (status != TD_OK) {
        if (!*err.message)
            abort();
        return;
    }
    struct buf again;
    buf_init(&again, 1u << 20);
    thresholds_write(&one, &again);
    if (again.failed || thresholds_read(buf_view(&again), &two, &err) != TD_OK ||
        two.task_count != one.task_count)
        abort();
    struct gate_settings gates = {.thresholds = {&one, &one, &one}};
    thresholds_apply(&gates, one.task_count ? one.tasks[0].task : "");
    if (isnan(gates.g3_confidence_min))
        abort();
    buf_deinit(&again);
}

static void read_lines(struct td_str text)
{
    static struct tune_result result;
    struct judged_answers labelled;
    struct td_error err = {0};
    const struct tune_options options = {THRESHOLD_G3, 0.05, true};
    enum td_status status = judged_answers_read(text, THRESHOLD_G3, &labelled, &err);
    if (status != TD_OK && !*err.message)
        abort();
    if (status == TD_OK && tune(&labelled, &options, &result, &err) == TD_OK &&
        (result.count != labelled.count || result.loss_kept > options.risk + 1e-6))
        abort();
    judged_answers_deinit(&labelled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str text = {(const char *)data, size};
    read_file(text);
    read_lines(text);
    return 0;
}
