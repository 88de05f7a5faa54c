/* tandem classify: which of given labels texts have. The same as POST /tandem/v1/classify, without
 * a server. */
#define HELP_OF 49
#include "api/wire/classify_request.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXTS_MAX 64 /* on the command line; standard input has no such limit */

struct run {
    struct td_session *session;
    struct td_classifier *classifier;
    float *probabilities; /* [labels] */
    size_t *order;        /* [labels] */
    uint32_t top;
    struct buf *rows; /* with --json; else NULL */
    size_t text_count;
    uint64_t token_count;
};

struct classify_options {
    const char *model, *set, *labels, *instruction;
    uint32_t top, threads, context;
    enum td_cpu cpu;
    bool json;
};

static bool print_rows(struct run *run, const struct td_classification *said)
{
    size_t count = td_classifier_count(run->classifier);
    bool printed = true;
    classify_order(run->probabilities, count, run->order);
    for (size_t i = 0; i < count && i < run->top; i++) {
        char not_mine[32] = "-";
        if (said->not_mine >= 0)
            snprintf(not_mine, sizeof not_mine, "%.4f", (double)said->not_mine);
        struct td_str label = td_classifier_label(run->classifier, run->order[i]);
        printed &= printf("%.4f\t%s\t" STR_FMT "\n", (double)run->probabilities[run->order[i]],
                          not_mine, STR_ARG(label)) > 0;
    }
    return printed;
}

static enum td_status classify_one(struct run *run, struct td_str text, struct td_error *err)
{
    struct td_error cause = {0};
    struct td_classification said;
    enum td_status status =
        td_classify(run->session, run->classifier, text, run->probabilities, &said, &cause);
    if (status != TD_OK)
        return error_set(err, status, "TEXT %zu: %s", run->text_count + 1, cause.message);
    if (run->rows) {
        const struct classify_row row = {run->probabilities, said.not_mine, said.mass};
        buf_append_str(run->rows, run->text_count ? STR(",") : STR(""));
        classify_write_row(run->classifier, &row, run->text_count, run->top, run->rows);
    } else if (!print_rows(run, &said)) {
        return error_set(err, TD_IO, "standard output is closed");
    }
    run->text_count++;
    run->token_count += said.token_count;
    return TD_OK;
}

static enum td_status classify_lines(struct run *run, struct td_error *err)
{
    struct buf input = {0};
    struct td_str line;
    enum td_status status = command_read_all(NULL, &input, err);
    struct td_str rest = buf_view(&input);
    while (status == TD_OK && str_next(&rest, '\n', &line))
        if (str_trim(line).len > 0)
            status = classify_one(run, line, err);
    if (status == TD_OK && run->text_count == 0)
        status = error_set(err, TD_INVALID, "there is no text on standard input");
    buf_deinit(&input);
    return status;
}

static enum td_status open_classifier(struct run *run, const struct td_model *model,
                                      const struct classify_options *options, struct td_error *err)
{
    struct td_str *labels = calloc(CLASSIFY_LABELS_MAX, sizeof *labels), label;
    struct td_str rest = str_from(options->labels ? options->labels : "");
    size_t count = 0;
    enum td_status status = labels ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for labels");
    while (status == TD_OK && str_next(&rest, ',', &label)) {
        if (count == CLASSIFY_LABELS_MAX)
            status = error_set(err, TD_LIMIT, "more than %d labels", CLASSIFY_LABELS_MAX);
        else
            labels[count++] = str_trim(label);
    }
    const struct td_classifier_options how = {.set = options->set,
                                              .labels = labels,
                                              .label_count = count,
                                              .instruction = str_from(options->instruction)};
    if (status == TD_OK)
        status = td_classifier_new(model, &how, &run->classifier, err);
    free(labels);
    if (status != TD_OK)
        return status;
    count = td_classifier_count(run->classifier);
    run->probabilities = calloc(count, sizeof *run->probabilities);
    run->order = calloc(count, sizeof *run->order);
    return run->probabilities && run->order
               ? TD_OK
               : error_set(err, TD_NO_MEMORY, "no memory for %zu labels", count);
}

static enum td_status open_run(struct run *run, const struct td_model *model,
                               const struct classify_options *options, struct td_error *err)
{
    const struct td_session_options how = {.context_tokens = options->context,
                                           .thread_count = options->threads};
    enum td_status status = open_classifier(run, model, options, err);
    return status == TD_OK ? td_session_new(model, &how, &run->session, err) : status;
}

static bool print_json(const struct run *run, const struct td_model *model)
{
    bool printed = printf("{\"object\":\"list\",\"model\":") > 0;
    struct buf name;
    buf_init(&name, 1 << 16);
    json_write_text(str_from(td_model_get_info(model)->name), &name);
    printed &= command_print(buf_view(&name)) && printf(",\"data\":[") > 0;
    printed &= !run->rows->failed && command_print(buf_view(run->rows));
    unsigned long long tokens = run->token_count;
    printed &=
        printf("],\"usage\":{\"prompt_tokens\":%llu,\"total_tokens\":%llu}}\n", tokens, tokens) > 0;
    buf_deinit(&name);
    return printed;
}

static int classify(const struct classify_options *options, const char *const *texts,
                    size_t text_count)
{
    struct td_error err = {0};
    struct td_model *model = NULL;
    struct buf rows;
    buf_init(&rows, CLASSIFY_ANSWER_BYTES_MAX);
    struct run run = {.top = options->top, .rows = options->json ? &rows : NULL};
    enum td_status status = command_open_model(options->model, options->cpu, false, &model, &err);
    if (status == TD_OK)
        status = open_run(&run, model, options, &err);
    for (size_t i = 0; status == TD_OK && i < text_count; i++)
        status = classify_one(&run, str_from(texts[i]), &err);
    if (status == TD_OK && text_count == 0)
        status = classify_lines(&run, &err);
    bool printed = status != TD_OK || !options->json || print_json(&run, model);
    td_session_free(run.session);
    td_classifier_free(run.classifier);
    free(run.probabilities);
    free(run.order);
    buf_deinit(&rows);
    td_model_close(model);
    return status == TD_OK ? !printed : command_fail("classify", &err);
}

static int cmd_classify(int argc, char **argv)
{
    const char *texts[TEXTS_MAX];
    size_t text_count = 0;
    struct classify_options values = {.top = 1};
    const struct option options[] = {
        OPTION_ROW_MODEL(values.model),
        {"labels", 'l', OPTION_TEXT, &values.labels, "A,B,C",
         HELP_TEXT("the labels to choose from"), 0, 0},
        {"set", 's', OPTION_TEXT, &values.set, "NAME",
         HELP_TEXT(
             "labels that the model brings; the default one has intents, banking, sentiment and "
             "language"),
         0, 0},
        {"instruction", 0, OPTION_TEXT, &values.instruction, "TEXT",
         HELP_TEXT("what the labels mean, for the system's message"), 0, 0},
        {"top", 0, OPTION_UINT, &values.top, "N",
         HELP_TEXT("print the N best labels of each; default 1"), 1, TD_LABELS_MAX},
        {"context", 0, OPTION_UINT, &values.context, "N",
         HELP_TEXT("most tokens of a prompt; default 4096 or the model's"), 1, 1e9},
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_CPU(values.cpu),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "classify",
        .arguments = "[TEXT]...",
        .summary =
            HELP_TEXT("Says which label each TEXT has: its probability among the labels, the "
                      "probability that the text is none of the model's business (\"-\" where it "
                      "cannot say), and the label, with tabs between. Without TEXT each line of "
                      "standard input is one. The model generates nothing."),
        .example =
            HELP_TEXT("  tandem classify --set intents \"please move 20 dollars to my savings\""),
        OPTION_TABLE(options),
        .positional_max = TEXTS_MAX,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, texts, &text_count);
    if ((values.set == NULL) == (values.labels == NULL))
        return options_misuse("classify", "give either --labels or --set");
    return classify(&values, texts, text_count);
}

const struct verb verb_classify = {"classify", cmd_classify,
                                   HELP_TEXT("say which label texts have")};
