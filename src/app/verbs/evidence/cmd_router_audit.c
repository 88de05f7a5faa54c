/* tandem router audit: of traffic that all went to a cloud, what would the router give to the
 * device, what would that save, and how much of it would be right? Where it would go is the
 * classifier's word. How much would be right is measured: by the outcomes of the device's own
 * answers in the ledger, for each task. Without enough of them there is no forecast. */
#include "api/wire/openai_messages.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/quantity.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/setup/policy/classifier_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/ratio.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "router/learn/bootstrap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_ARENA_BYTES (16u << 20)
#define LINES_MAX 1000000u
/* Without a count: bytes a token of English text, as tokenizers of the large models have it. */
#define BYTES_PER_TOKEN 4.0
#define ANSWER_TOKENS 200.0

/* Columns of a line, of which means and intervals are printed. */
enum column { COST, SAVING, MOVED, COLUMN_COUNT };

/* Fewer outcomes than that say nothing of a task. */
#define OUTCOMES_MIN 10
#define ALL_TASKS (CLASSIFIER_TASKS_MAX + 1)

struct outcomes {
    size_t count;
    double right;
};

struct task_sums {
    size_t lines, moved;
    double saving;
    struct outcomes measured;
};

struct audit {
    const struct classifier *classifier;
    double bar, in_usd_per_token, out_usd_per_token;
    /* of each line: [count, COLUMN_COUNT] */
    double *rows;
    size_t count, capacity;
    struct task_sums tasks[CLASSIFIER_TASKS_MAX + 1]; /* the last: none */
    struct utterance utterance;
    struct features features;
    struct classifier_work work;
    struct bootstrap_interval intervals[COLUMN_COUNT];
    struct outcomes measured; /* of all tasks */
};

static double tokens_of(const struct json *line, const char *name, double otherwise)
{
    double tokens = json_number(json_get(line, name), -1);
    return tokens >= 0 && tokens <= 1e9 ? tokens : otherwise;
}

/* What the line cost, as it says, or by its tokens. */
static double cost_of(const struct audit *audit, const struct json *line, size_t bytes)
{
    double cost = json_number(json_get(line, "cost_usd"), -1);
    if (cost >= 0 && cost <= 1e9)
        return cost;
    return tokens_of(line, "prompt_tokens", (double)bytes / BYTES_PER_TOKEN) *
               audit->in_usd_per_token +
           tokens_of(line, "completion_tokens", ANSWER_TOKENS) * audit->out_usd_per_token;
}

static void judge_line(struct audit *audit, const struct json *line, size_t bytes)
{
    struct verdict verdict;
    features_read(&audit->utterance, &audit->features);
    classifier_judge(audit->classifier, &audit->utterance, &audit->features, &audit->work,
                     &verdict);
    double *row = audit->rows + audit->count++ * COLUMN_COUNT;
    bool moves = (double)verdict.p_local >= audit->bar;
    row[COST] = cost_of(audit, line, bytes);
    row[SAVING] = moves ? row[COST] : 0;
    row[MOVED] = moves;
    struct task_sums *task =
        &audit->tasks[verdict.task == SIZE_MAX ? CLASSIFIER_TASKS_MAX : verdict.task];
    task->lines++;
    task->moved += moves;
    task->saving += row[SAVING];
}

/* "text" or "prompt", or a chat request's "messages". */
static enum td_status read_utterance(struct audit *audit, const struct json *line, size_t *bytes,
                                     struct td_error *err)
{
    const struct json *text =
        json_get(line, "text") ? json_get(line, "text") : json_get(line, "prompt");
    struct td_request request = {0};
    struct fault fault = {0};
    if (json_kind_of(text) == JSON_KIND_TEXT) {
        *bytes = json_text(text).len;
        utterance_read_text(json_text(text), &audit->utterance);
        return TD_OK;
    }
    if (json_kind_of(json_get(line, "messages")) != JSON_KIND_ARRAY)
        return error_set(err, TD_INVALID,
                         "the line must have \"text\", \"prompt\" or \"messages\"");
    struct arena *arena = arena_new(LINE_ARENA_BYTES);
    enum td_status status = TD_OK;
    if (!arena || !openai_messages_read(line, arena, &request, &fault))
        status =
            error_set(err, arena ? TD_INVALID : TD_NO_MEMORY, "%s: %s", fault.param, fault.message);
    *bytes = 0;
    for (size_t i = 0; status == TD_OK && i < request.message_count; i++)
        *bytes += request.messages[i].content.len;
    if (status == TD_OK)
        utterance_read(&request, &audit->utterance);
    arena_free(arena);
    return status;
}

static enum td_status read_line(struct audit *audit, struct td_str text, struct td_error *err)
{
    struct json *line = NULL;
    size_t bytes = 0;
    if (audit->count == LINES_MAX)
        return error_set(err, TD_LIMIT, "more than %u lines", LINES_MAX);
    if (audit->count == audit->capacity) {
        size_t capacity = audit->capacity ? 2 * audit->capacity : 1024;
        void *grown = realloc(audit->rows, capacity * COLUMN_COUNT * sizeof *audit->rows);
        if (!grown)
            return error_set(err, TD_NO_MEMORY, "no memory for %zu lines", capacity);
        audit->rows = grown;
        audit->capacity = capacity;
    }
    enum td_status status = json_parse(text, &line, err);
    if (status == TD_OK && json_kind_of(line) != JSON_KIND_OBJECT)
        status = error_set(err, TD_INVALID, "not an object");
    if (status == TD_OK)
        status = read_utterance(audit, line, &bytes, err);
    if (status == TD_OK)
        judge_line(audit, line, bytes);
    json_free(line);
    return status;
}

static enum td_status read_lines(struct audit *audit, struct td_str lines, struct td_error *err)
{
    struct td_str text;
    for (size_t number = 1; str_next(&lines, '\n', &text); number++) {
        struct td_error wrong = {0};
        if (str_trim(text).len == 0)
            continue;
        enum td_status status = read_line(audit, text, &wrong);
        if (status != TD_OK)
            return error_set(err, status, "line %zu: %s", number, wrong.message);
    }
    if (audit->count == 0)
        return error_set(err, TD_INVALID, "no lines in it");
    return bootstrap_means(audit->rows, audit->count, COLUMN_COUNT, 0.95, 1, audit->intervals, err);
}

/* --- what was measured --- */

static void add_outcome(struct outcomes *outcomes, double right)
{
    outcomes->count++;
    outcomes->right += right;
}

static void take_outcome(void *ctx, const char *signals_json, double right)
{
    struct audit *audit = ctx;
    struct json *signals = NULL;
    if (!(right >= 0 && right <= 1) || json_parse(str_from(signals_json), &signals, NULL) != TD_OK)
        return;
    struct td_str name = json_text(json_get(signals, "task"));
    add_outcome(&audit->measured, right);
    for (size_t t = 0; t < classifier_task_count(audit->classifier); t++) {
        const char *task = classifier_task_name(audit->classifier, t);
        if (task && name.len > 0 && str_equal(name, str_from(task)))
            add_outcome(&audit->tasks[t].measured, right);
    }
    json_free(signals);
}

struct share {
    bool known;
    double mean, low, high;
};

/* How much of a task the device gets right; or of ALL_TASKS. */
static struct share right_of(const struct audit *audit, size_t task)
{
    const struct outcomes *of =
        task <= CLASSIFIER_TASKS_MAX ? &audit->tasks[task].measured : &audit->measured;
    struct share share = {.known = of->count >= OUTCOMES_MIN};
    if (!share.known)
        return share;
    share.mean = of->right / (double)of->count;
    ratio_share_interval(of->right, (double)of->count, &share.low, &share.high);
    return share;
}

/* --- printing --- */

static const char *task_name(const struct audit *audit, size_t task)
{
    return task == CLASSIFIER_TASKS_MAX ? NULL : classifier_task_name(audit->classifier, task);
}

/* The task with the largest saving that is right, among those not shown; SIZE_MAX. */
static size_t next_task(const struct audit *audit, const bool *shown)
{
    size_t best = SIZE_MAX;
    double most = -1;
    for (size_t t = 0; t <= CLASSIFIER_TASKS_MAX; t++) {
        const struct task_sums *task = &audit->tasks[t];
        if (shown[t] || task->lines == 0)
            continue;
        struct share right = right_of(audit, t);
        double worth = task->saving * (right.known ? right.mean : 0.5);
        if (worth > most) {
            most = worth;
            best = t;
        }
    }
    return best;
}

static struct json *interval_json(const struct bootstrap_interval *interval, double factor)
{
    struct json *object = json_new_object();
    json_put(object, "mean", json_new_double(factor * interval->mean));
    json_put(object, "low", json_new_double(factor * interval->low));
    json_put(object, "high", json_new_double(factor * interval->high));
    return object;
}

/* null: not known. */
static struct json *share_json(struct share share)
{
    if (!share.known)
        return json_new_null();
    const struct bootstrap_interval interval = {
        .mean = share.mean, .low = share.low, .high = share.high};
    return interval_json(&interval, 1);
}

static bool print_json(const struct audit *audit)
{
    struct json *object = json_new_object(), *tasks = json_new_array();
    bool shown[CLASSIFIER_TASKS_MAX + 1] = {false};
    double count = (double)audit->count;
    json_put(object, "questions", json_new_int((int64_t)audit->count));
    json_put(object, "p_local_min", json_new_double(audit->bar));
    json_put(object, "cost_usd", interval_json(&audit->intervals[COST], count));
    json_put(object, "saving_usd", interval_json(&audit->intervals[SAVING], count));
    json_put(object, "movable", interval_json(&audit->intervals[MOVED], 1));
    json_put(object, "right", share_json(right_of(audit, ALL_TASKS)));
    json_put(object, "outcomes", json_new_int((int64_t)audit->measured.count));
    for (size_t t; (t = next_task(audit, shown)) != SIZE_MAX;) {
        const struct task_sums *task = &audit->tasks[t];
        struct json *row = json_new_object();
        shown[t] = true;
        json_put(row, "task", json_new_cstr(task_name(audit, t)));
        json_put(row, "questions", json_new_int((int64_t)task->lines));
        json_put(row, "movable", json_new_double((double)task->moved / (double)task->lines));
        json_put(row, "right", share_json(right_of(audit, t)));
        json_put(row, "outcomes", json_new_int((int64_t)task->measured.count));
        json_put(row, "saving_usd", json_new_double(task->saving));
        json_push(tasks, row);
    }
    json_put(object, "tasks", tasks);
    return command_print_json(object);
}

static void print_right(const struct audit *audit)
{
    struct share right = right_of(audit, ALL_TASKS);
    if (right.known)
        printf("right on the device: %.1f %% [%.1f, %.1f], by %zu outcomes in the ledger\n",
               100 * right.mean, 100 * right.low, 100 * right.high, audit->measured.count);
    else
        printf("how much of that the device gets right is not known: the ledger has %zu outcomes "
               "of it, and %d are needed; let it answer in the shadow of the cloud "
               "(routes.shadow) or send feedback\n",
               audit->measured.count, OUTCOMES_MIN);
}

static bool print_text(const struct audit *audit)
{
    const struct bootstrap_interval *of = audit->intervals;
    bool shown[CLASSIFIER_TASKS_MAX + 1] = {false};
    double count = (double)audit->count;
    printf("%zu questions, %.4f USD; a question moves when p_local is at least %.2f\n",
           audit->count, count * of[COST].mean, audit->bar);
    printf("could move: %.1f %% [%.1f, %.1f]; saving %.4f USD [%.4f, %.4f], %.1f %% of the bill\n",
           100 * of[MOVED].mean, 100 * of[MOVED].low, 100 * of[MOVED].high, count * of[SAVING].mean,
           count * of[SAVING].low, count * of[SAVING].high,
           of[COST].mean > 0 ? 100 * of[SAVING].mean / of[COST].mean : 0.0);
    print_right(audit);
    printf("\n%-24s %9s %8s %22s %12s\n", "task (quick wins first)", "questions", "movable",
           "right on the device", "saving USD");
    for (size_t t; (t = next_task(audit, shown)) != SIZE_MAX;) {
        const struct task_sums *task = &audit->tasks[t];
        const char *name = task_name(audit, t);
        struct share right = right_of(audit, t);
        char text[32] = "not measured";
        shown[t] = true;
        if (right.known)
            snprintf(text, sizeof text, "%.0f %% [%.0f, %.0f]", 100 * right.mean, 100 * right.low,
                     100 * right.high);
        printf("%-24s %9zu %7.1f%% %22s %12.4f\n", name ? name : "-", task->lines,
               100 * (double)task->moved / (double)task->lines, text, task->saving);
    }
    return fflush(stdout) == 0;
}

struct call {
    const char *file, *model, *price_in, *price_out;
    double bar;
    bool json;
    struct since_option since;
};

/* Without a ledger nothing was measured. */
static enum td_status read_outcomes(const struct call *call, struct audit *audit,
                                    struct td_error *err)
{
    struct config *config = NULL;
    struct ledger_reader *reader = NULL;
    enum td_status status = config_load(NULL, NULL, NULL, &config, err);
    if (status != TD_OK)
        return status;
    status = ledger_reader_open(config->ledger.path, &reader, err);
    if (status == TD_OK)
        status = ledger_reader_outcomes(reader, call->since.wall_ms, take_outcome, audit, err);
    else if (status == TD_NOT_FOUND)
        status = TD_OK;
    ledger_reader_close(reader);
    config_free(config);
    return status;
}

static enum td_status run(const struct call *call, struct audit *audit, struct td_error *err)
{
    struct buf text = {0};
    struct classifier *classifier = NULL;
    enum td_status status = quantity_read(str_from(call->price_in), QUANTITY_MONEY_PER_TOKEN,
                                          &audit->in_usd_per_token, err);
    if (status == TD_OK)
        status = quantity_read(str_from(call->price_out), QUANTITY_MONEY_PER_TOKEN,
                               &audit->out_usd_per_token, err);
    if (status == TD_OK)
        status = classifier_file_open(call->model, &classifier, err);
    if (status == TD_OK)
        status = command_read_all(call->file, &text, err);
    audit->classifier = classifier;
    audit->bar = call->bar;
    if (status == TD_OK) {
        status = read_lines(audit, buf_view(&text), err);
        error_prefix(err, "%s", call->file);
    }
    if (status == TD_OK)
        status = read_outcomes(call, audit, err);
    if (status == TD_OK && !(call->json ? print_json(audit) : print_text(audit)))
        status = error_set(err, TD_IO, "cannot write to standard output");
    classifier_close(classifier);
    buf_deinit(&text);
    return status;
}

static int cmd_router_audit(int argc, char **argv)
{
    struct call call = {.bar = 0.7, .price_in = "0.15 USD/Mtok", .price_out = "0.60 USD/Mtok"};
    since_option_init(&call.since, "all");
    const struct option options[] = {
        {"model", 'm', OPTION_TEXT, &call.model, "FILE",
         "classifier; default: the one beside the program", 0, 0},
        {"p-local", 0, OPTION_NUMBER, &call.bar, "P",
         "a question moves to the device if P(right answer there) is at least P; default 0.7", 0,
         1},
        {"price-in", 0, OPTION_TEXT, &call.price_in, "PRICE",
         "price of prompt tokens for lines without cost_usd; default \"0.15 USD/Mtok\"", 0, 0},
        {"price-out", 0, OPTION_TEXT, &call.price_out, "PRICE",
         "price of answer tokens; default \"0.60 USD/Mtok\"", 0, 0},
        OPTION_ROW_SINCE(call.since, "all"),
        OPTION_ROW_JSON(call.json),
    };
    const struct option_spec spec = {
        .verb = "router audit",
        .arguments = "LOG.jsonl",
        .summary = "Reads a log of requests that all went to a cloud. It says which of them the "
                   "router would give to the device, what that would save, and how much of it "
                   "the device gets right, with 95 % intervals, in total and for each task. What "
                   "it gets right comes from the ledger: feedback on its answers, and shadows. "
                   "Nothing is claimed without them.\n"
                   "A line: {\"text\" or \"prompt\" or \"messages\", \"prompt_tokens\", "
                   "\"completion_tokens\", \"cost_usd\"}; the numbers are optional.",
        .json = "{questions, movable, saving_usd, right, outcomes, tasks}",
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &call.file, NULL);
    if (!call.file)
        return options_misuse("router audit", "name a log of requests");
    struct td_error err = {0};
    struct audit *audit = calloc(1, sizeof *audit);
    enum td_status status =
        audit ? run(&call, audit, &err) : error_set(&err, TD_NO_MEMORY, "no memory");
    if (audit)
        free(audit->rows);
    free(audit);
    return status == TD_OK ? 0 : command_fail("router audit", &err);
}

const struct verb verb_router_audit = {"audit", cmd_router_audit,
                                       "estimate which cloud requests a device could answer"};
