/* The model is opened and asked with the engine's settings of the configuration, because those
 * shape the numbers of its answers. The calibration is written after the last answer, as a whole.
 * So whoever stops this leaves an older calibration as it was. */
#include "app/evidence/calibrate.h"

#include "app/cli/command.h"
#include "app/config/config.h"
#include "app/evidence/confidence_answers.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/policy/calibration_file.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "router/learn/risk_fit.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define PROGRESS_MS 500
#define JUDGED_BYTES_MAX (64u << 20)

/* From the executable's folder: installed; build/tandem; build/src/app/tandem. */
static const char *const beside[] = {
    "../share/tandem/questions.jsonl",
    "../models/calibration/questions.jsonl",
    "../../../models/calibration/questions.jsonl",
};

struct calibration {
    const struct calibrate_options *options;
    struct config *config;
    char model_path[4096], questions[4096], path[CALIBRATION_PATH_BYTES];
    struct td_model *model;
    struct confidence_answers answers;
    struct confidence_model fitted;
    struct risk_fit_report report;
    size_t question_count;
    double begin_ms, shown_ms, seconds;
    bool bar_shown;
    struct buf judged; /* lines of options->judged */
    struct buf read;   /* of the file of questions */
    struct td_str text;
};

/* --- progress --- */

static void show_progress(struct calibration *calibration, const struct confidence_answers *so_far)
{
    const struct calibrate_options *options = calibration->options;
    double now_ms = clock_monotonic_ms(NULL);
    size_t done = so_far->whole_count, all = calibration->question_count;
    double left_s = (now_ms - calibration->begin_ms) / 1000 / (double)done * (double)(all - done);
    if (options->on_answer)
        options->on_answer(options->ctx, done, all, so_far->right_count, left_s);
    if (options->json || options->found || !isatty(STDERR_FILENO) ||
        (now_ms < calibration->shown_ms + PROGRESS_MS && done < all))
        return;
    calibration->shown_ms = now_ms;
    calibration->bar_shown = true;
    fprintf(stderr, "\rquestion %zu of %zu, %zu answered rightly, %.0f s left\x1b[K", done, all,
            so_far->right_count, left_s);
}

/* What `probe train` reads. */
static void add_judged(struct calibration *calibration, const struct json *line, bool right)
{
    static const char *const kept[] = {"prompt", "messages"};
    struct json *object = json_new_object();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_get(line, kept[i]))
            json_put(object, kept[i], json_clone(json_get(line, kept[i])));
    json_put(object, "right", json_new_bool(right));
    json_write(object, &calibration->judged);
    buf_append_char(&calibration->judged, '\n');
    json_free(object);
}

static void on_answer(void *ctx, const struct confidence_answers *so_far, const struct json *line,
                      bool right)
{
    struct calibration *calibration = ctx;
    show_progress(calibration, so_far);
    if (calibration->options->judged)
        add_judged(calibration, line, right);
}

static void end_progress(const struct calibration *calibration)
{
    if (calibration->bar_shown)
        fputc('\n', stderr);
}

/* --- steps --- */

static enum td_status find_questions(struct calibration *calibration, struct td_error *err)
{
    const char *given = calibration->options->questions;
    enum td_status status = TD_OK;
    calibration->text = calibration->options->text;
    if (calibration->text.data)
        snprintf(calibration->questions, sizeof calibration->questions, "questions");
    else if (!given && !model_file_beside(beside, sizeof beside / sizeof *beside,
                                          calibration->questions, sizeof calibration->questions))
        return error_set(err, TD_NOT_FOUND,
                         "questions.jsonl is neither in ../share/tandem beside the program nor in "
                         "a source tree; give a file of questions");
    else if (given && snprintf(calibration->questions, sizeof calibration->questions, "%s",
                               given) >= (int)sizeof calibration->questions)
        return error_set(err, TD_INVALID, "the path of the questions is too long");
    if (!calibration->text.data) {
        status = command_read_all(calibration->questions, &calibration->read, err);
        calibration->text = buf_view(&calibration->read);
    }
    struct td_str rest = calibration->text, line;
    while (status == TD_OK && str_next(&rest, '\n', &line))
        calibration->question_count += str_trim(line).len > 0;
    return status;
}

/* What would fail at the end, after minutes, fails here. */
static enum td_status check_folder(struct calibration *calibration, struct td_error *err)
{
    enum td_status status = calibration_file_path(
        calibration->config->state_dir, &calibration->fitted.binding, calibration->path, err);
    return status == TD_OK ? calibration_file_check(calibration->path, err) : status;
}

static enum td_status open_all(struct calibration *calibration, struct td_error *err)
{
    const struct calibrate_options *options = calibration->options;
    struct td_model_options model = {.cpu = options->cpu};
    enum td_status status = config_load(options->config, &calibration->config, err);
    const struct config *config = calibration->config;
    if (status == TD_OK)
        status = find_questions(calibration, err);
    if (status == TD_OK)
        status = model_file_find(options->model ? options->model : config->engine.model,
                                 config->models.dir, calibration->model_path,
                                 sizeof calibration->model_path, err);
    if (status == TD_OK)
        status = td_model_open(calibration->model_path, &model, &calibration->model, err);
    if (status == TD_OK)
        status = model_identity_read(calibration->model, calibration->model_path,
                                     &calibration->fitted.binding, err);
    return status == TD_OK ? check_folder(calibration, err) : status;
}

static enum second_by second_by(const struct calibrate_options *options)
{
    return options->p_true ? SECOND_P_TRUE : options->agreement ? SECOND_AGREEMENT : SECOND_OFF;
}

static enum td_status ask(struct calibration *calibration, struct td_error *err)
{
    const struct calibrate_options *options = calibration->options;
    const struct config *config = calibration->config;
    const struct confidence_source source = {.model = calibration->model};
    const struct confidence_answers_options how = {
        .path = calibration->questions,
        .text = calibration->text,
        .tokens_max = options->tokens_max,
        .threads = options->threads ? options->threads : config->engine.threads,
        .kv_type = (enum td_kv_type)config->engine.kv_type,
        .exit_threshold = options->model ? 0 : (float)config->engine.exit_threshold,
        .second = second_by(options),
        .samples = options->agreement,
        .cancel = options->cancel,
        .on_answer = on_answer,
        .ctx = calibration,
    };
    calibration->begin_ms = clock_monotonic_ms(NULL);
    enum td_status status = confidence_answers_read(&source, &how, &calibration->answers, err);
    calibration->seconds = (clock_monotonic_ms(NULL) - calibration->begin_ms) / 1000;
    end_progress(calibration);
    return status;
}

static enum td_status fit(struct calibration *calibration, struct td_error *err)
{
    const struct confidence_answers *answers = &calibration->answers;
    const struct risk_fit_answers of = {answers->whole, answers->whole_count, answers->running,
                                        answers->running_count};
    calibration->fitted.second.by = second_by(calibration->options);
    enum td_status status =
        risk_fit(&of, calibration->options->seed, &calibration->fitted, &calibration->report, err);
    error_prefix(err, "nothing is written, half of %zu answers (%zu right) is fitted",
                 answers->whole_count, answers->right_count);
    return status;
}

static enum td_status write_judged(const struct calibration *calibration, struct td_error *err)
{
    const char *path = calibration->options->judged;
    if (!path)
        return TD_OK;
    return calibration->judged.failed
               ? error_set(err, TD_NO_MEMORY, "no memory for %s", path)
               : file_replace(path, buf_view(&calibration->judged), 0666, err);
}

/* --- printing --- */

static double share(size_t part, size_t of)
{
    return of ? (double)part / (double)of : 0;
}

static struct json *interval_json(double low, double high)
{
    struct json *list = json_new_array();
    json_push(list, json_new_double(low));
    json_push(list, json_new_double(high));
    return list;
}

static struct json *line_json(const struct risk_fit_line *line, size_t held)
{
    struct json *object = json_new_object();
    json_put(object, "risk", json_new_double(line->risk));
    json_put(object, "threshold", json_new_double(line->threshold));
    json_put(object, "coverage", json_new_double(share(line->kept, held)));
    json_put(object, "coverage_95", interval_json(line->kept_low, line->kept_high));
    json_put(object, "risk_seen", json_new_double(share(line->wrong, held)));
    json_put(object, "risk_seen_95", interval_json(line->wrong_low, line->wrong_high));
    return object;
}

static double second_ms(const struct calibration *calibration)
{
    return calibration->answers.second_ms / (double)calibration->report.count;
}

static struct json *second_json(const struct calibration *calibration)
{
    const struct risk_fit_report *report = &calibration->report;
    const struct second_scale *scale = &calibration->fitted.second;
    struct json *object = json_new_object(), *lines = json_new_array();
    json_put(object, "by", json_new_cstr(second_names[scale->by]));
    json_put(object, "weights", interval_json(scale->first, scale->second));
    json_put(object, "auroc_first", json_new_double(report->second.auroc_first));
    json_put(object, "auroc_second", json_new_double(report->second.auroc_second));
    json_put(object, "auroc_both", json_new_double(report->second.auroc_both));
    json_put(object, "ms", json_new_double(second_ms(calibration)));
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++) {
        const struct risk_fit_line *line = &report->lines[i];
        struct json *item = json_new_object();
        json_put(item, "asked", json_new_double(share(line->asked, report->held_count)));
        json_put(item, "coverage", json_new_double(share(line->second_kept, report->held_count)));
        json_put(item, "risk_seen", json_new_double(share(line->second_wrong, report->held_count)));
        json_push(lines, item);
    }
    json_put(object, "risks", lines);
    return object;
}

static void print_second(const struct calibration *calibration)
{
    const struct risk_fit_report *report = &calibration->report;
    const struct second_scale *scale = &calibration->fitted.second;
    size_t held = report->held_count;
    printf("with %s as a second signal (%.1f ms each):\n", second_names[scale->by],
           second_ms(calibration));
    printf("  AUROC of the first %.3f, of the second %.3f, of both %.3f\n",
           report->second.auroc_first, report->second.auroc_second, report->second.auroc_both);
    if (scale->second <= 0)
        printf("  it says nothing that the first does not: servers do not ask for it\n");
    for (size_t i = 0; scale->second > 0 && i < CONFIDENCE_RISK_COUNT; i++) {
        const struct risk_fit_line *line = &report->lines[i];
        printf("  %2.0f %%   asked for %5.1f %%, kept %5.1f %%, kept and wrong %5.1f %%\n",
               100 * line->risk, 100 * share(line->asked, held),
               100 * share(line->second_kept, held), 100 * share(line->second_wrong, held));
    }
}

static struct json *report_json(const struct calibration *calibration)
{
    const struct risk_fit_report *report = &calibration->report;
    struct json *object = json_new_object(), *lines = json_new_array(), *bins = json_new_array();
    json_put(object, "model", json_new_cstr(calibration->fitted.binding.model));
    json_put(object, "quantization", json_new_cstr(calibration->fitted.binding.quantization));
    json_put(object, "questions", json_new_int((int64_t)report->count));
    json_put(object, "right", json_new_int((int64_t)report->right));
    json_put(object, "held_out", json_new_int((int64_t)report->held_count));
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++)
        json_push(lines, line_json(&report->lines[i], report->held_count));
    for (size_t i = 0; i < RISK_FIT_BINS; i++)
        json_push(bins, interval_json(report->bins[i].said, report->bins[i].right));
    json_put(object, "risks", lines);
    json_put(object, "said_and_right", bins);
    json_put(object, "auroc", json_new_double(report->fit.auroc));
    if (calibration->fitted.second.by != SECOND_OFF)
        json_put(object, "second", second_json(calibration));
    json_put(object, "tokens", json_new_int((int64_t)calibration->answers.token_count));
    json_put(object, "seconds", json_new_double(calibration->seconds));
    json_put(object, "file", json_new_cstr(calibration->path));
    return object;
}

static void print_line(const struct risk_fit_line *line, size_t held)
{
    printf("  %2.0f %%", 100 * line->risk);
    if (isinf(line->threshold)) {
        printf("    cannot be reached: nothing is kept, every question climbs\n");
        return;
    }
    printf("   %10.4f   %5.1f %% (%.1f to %.1f)   %5.1f %% (%.1f to %.1f)\n", line->threshold,
           100 * share(line->kept, held), 100 * line->kept_low, 100 * line->kept_high,
           100 * share(line->wrong, held), 100 * line->wrong_low, 100 * line->wrong_high);
}

static bool print_text(const struct calibration *calibration)
{
    const struct risk_fit_report *report = &calibration->report;
    printf("%s %s: %zu questions, %zu answered rightly, in %.0f s (%.0f a minute)\n",
           calibration->fitted.binding.model, calibration->fitted.binding.quantization,
           report->count, report->right, calibration->seconds,
           (double)report->count / (calibration->seconds / 60));
    printf("on the %zu questions that were held out (intervals at 95 %%):\n", report->held_count);
    printf("  risk   confidence   kept                    kept and wrong\n");
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++)
        print_line(&report->lines[i], report->held_count);
    printf("  reliability, by fifths (confidence: right):");
    for (size_t i = 0; i < RISK_FIT_BINS; i++)
        printf(" %.2f: %.2f%s", report->bins[i].said, report->bins[i].right,
               i + 1 < RISK_FIT_BINS ? "," : "\n");
    if (calibration->fitted.second.by != SECOND_OFF)
        print_second(calibration);
    printf("%s is written; servers use it from their next start or reload\n", calibration->path);
    return fflush(stdout) == 0;
}

static enum td_status show(const struct calibration *calibration, bool *printed,
                           struct td_error *err)
{
    enum td_status status =
        calibration_file_write(calibration->config->state_dir, &calibration->fitted, err);
    if (status == TD_OK)
        *printed = calibration->options->json ? command_print_json(report_json(calibration))
                                              : print_text(calibration);
    return status;
}

enum td_status calibrate_run(const struct calibrate_options *options, bool *printed,
                             struct td_error *err)
{
    struct calibration calibration = {.options = options};
    buf_init(&calibration.judged, JUDGED_BYTES_MAX);
    enum td_status status = open_all(&calibration, err);
    if (status == TD_OK)
        status = ask(&calibration, err);
    if (status == TD_OK)
        status = write_judged(&calibration, err);
    if (status == TD_OK)
        status = fit(&calibration, err);
    if (status == TD_OK && options->found)
        *options->found = (struct calibrate_found){calibration.fitted, report_json(&calibration)};
    else if (status == TD_OK)
        status = show(&calibration, printed, err);
    confidence_answers_deinit(&calibration.answers);
    buf_deinit(&calibration.judged);
    buf_deinit(&calibration.read);
    td_model_close(calibration.model);
    config_free(calibration.config);
    return status;
}
