/* tandem router audit: of traffic that all went to a cloud, what would the router give to the
 * device, what would that save, and how much of it would be right? Where it would go is the
 * classifier's word. How much would be right is measured, for each task: by the outcomes of the
 * device's own answers in the ledger, or by asking it now what would move. Without enough of them
 * there is no forecast. */
#define HELP_OF 18
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/quantity.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/evidence/audit.h"
#include "app/evidence/tier_answers.h"
#include "app/setup/policy/classifier_file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/log.h"
#include "ledger/record/ledger.h"
#include "router/plan/facts.h"

#include <stdio.h>
#include <stdlib.h>

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
        const struct audit_task *task = &audit->tasks[t];
        if (shown[t] || task->lines == 0)
            continue;
        struct audit_share right = audit_right_of(audit, t);
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
static struct json *share_json(struct audit_share share)
{
    if (!share.known)
        return json_new_null();
    const struct bootstrap_interval interval = {
        .mean = share.mean, .low = share.low, .high = share.high};
    return interval_json(&interval, 1);
}

/* null: nothing was asked. */
static struct json *asking_json(const struct audit_asking *asking)
{
    if (!asking->tier)
        return json_new_null();
    struct json *object = json_new_object();
    json_put(object, "tier", json_new_cstr(tier_answers_facts(asking->tier)->name));
    json_put(object, "model", json_new_cstr(tier_answers_facts(asking->tier)->model));
    json_put(object, "questions", json_new_int((int64_t)asking->asked));
    json_put(object, "of", json_new_int((int64_t)asking->candidates));
    json_put(object, "failed", json_new_int((int64_t)asking->failed));
    return object;
}

static bool print_json(const struct audit *audit)
{
    struct json *object = json_new_object(), *tasks = json_new_array();
    bool shown[CLASSIFIER_TASKS_MAX + 1] = {false};
    double count = (double)audit->count;
    json_put(object, "questions", json_new_int((int64_t)audit->count));
    json_put(object, "p_local_min", json_new_double(audit->bar));
    json_put(object, "cost_usd", interval_json(&audit->intervals[AUDIT_COST], count));
    json_put(object, "saving_usd", interval_json(&audit->intervals[AUDIT_SAVING], count));
    json_put(object, "movable", interval_json(&audit->intervals[AUDIT_MOVED], 1));
    json_put(object, "right", share_json(audit_right_of(audit, AUDIT_ALL_TASKS)));
    json_put(object, "outcomes", json_new_int((int64_t)audit->measured.count));
    json_put(object, "asked", asking_json(&audit->asking));
    for (size_t t; (t = next_task(audit, shown)) != SIZE_MAX;) {
        const struct audit_task *task = &audit->tasks[t];
        struct json *row = json_new_object();
        shown[t] = true;
        json_put(row, "task", json_new_cstr(task_name(audit, t)));
        json_put(row, "questions", json_new_int((int64_t)task->lines));
        json_put(row, "movable", json_new_double((double)task->moved / (double)task->lines));
        json_put(row, "right", share_json(audit_right_of(audit, t)));
        json_put(row, "outcomes", json_new_int((int64_t)task->measured.count));
        json_put(row, "saving_usd", json_new_double(task->saving));
        json_push(tasks, row);
    }
    json_put(object, "tasks", tasks);
    return command_print_json(object);
}

static void print_asked(const struct audit *audit, struct audit_share right)
{
    const struct audit_asking *asking = &audit->asking;
    if (right.known)
        printf("right on the device: %.1f %% [%.1f, %.1f]", 100 * right.mean, 100 * right.low,
               100 * right.high);
    else
        printf("how much of that the device gets right is not known: it takes %d outcomes",
               AUDIT_OUTCOMES_MIN);
    printf("; tier %s (%s) was asked %zu of the %zu that would move, and %zu of its answers could "
           "be compared\n",
           tier_answers_facts(asking->tier)->name, tier_answers_facts(asking->tier)->model,
           asking->asked, asking->moving, audit->measured.count);
    if (asking->failed > 0)
        printf("%zu were not answered; the first: %s\n", asking->failed, asking->why.message);
}

static void print_right(const struct audit *audit)
{
    struct audit_share right = audit_right_of(audit, AUDIT_ALL_TASKS);
    if (audit->asking.tier)
        print_asked(audit, right);
    else if (right.known)
        printf("right on the device: %.1f %% [%.1f, %.1f], by %zu outcomes in the ledger\n",
               100 * right.mean, 100 * right.low, 100 * right.high, audit->measured.count);
    else
        printf("how much of that the device gets right is not known: the ledger has %zu outcomes "
               "of it, and %d are needed; let it answer in the shadow of the cloud "
               "(routes.shadow), send feedback, or ask it now (--run)\n",
               audit->measured.count, AUDIT_OUTCOMES_MIN);
}

static bool print_text(const struct audit *audit)
{
    const struct bootstrap_interval *of = audit->intervals;
    bool shown[CLASSIFIER_TASKS_MAX + 1] = {false};
    double count = (double)audit->count;
    printf("%zu questions, %.4f USD; a question moves when p_local is at least %.2f\n",
           audit->count, count * of[AUDIT_COST].mean, audit->bar);
    printf("could move: %.1f %% [%.1f, %.1f]; saving %.4f USD [%.4f, %.4f], %.1f %% of the bill\n",
           100 * of[AUDIT_MOVED].mean, 100 * of[AUDIT_MOVED].low, 100 * of[AUDIT_MOVED].high,
           count * of[AUDIT_SAVING].mean, count * of[AUDIT_SAVING].low,
           count * of[AUDIT_SAVING].high,
           of[AUDIT_COST].mean > 0 ? 100 * of[AUDIT_SAVING].mean / of[AUDIT_COST].mean : 0.0);
    print_right(audit);
    printf("\n%-24s %9s %8s %22s %12s\n", "task (quick wins first)", "questions", "movable",
           "right on the device", "saving USD");
    for (size_t t; (t = next_task(audit, shown)) != SIZE_MAX;) {
        const struct audit_task *task = &audit->tasks[t];
        const char *name = task_name(audit, t);
        struct audit_share right = audit_right_of(audit, t);
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
    const char *file, *model, *price_in, *price_out, *config, *tier;
    char *const *arguments;
    double bar;
    uint32_t questions;
    bool json, run;
    struct since_option since;
};

/* Without a ledger nothing was measured. */
static enum td_status read_outcomes(const struct call *call, struct audit *audit,
                                    struct td_error *err)
{
    struct config *config = NULL;
    struct ledger_reader *reader = NULL;
    enum td_status status = config_load(call->config, &config, err);
    if (status != TD_OK)
        return status;
    status = ledger_reader_open(config->ledger.path, &reader, err);
    if (status == TD_OK)
        status = audit_read_ledger(audit, reader, call->since.wall_ms, err);
    else if (status == TD_NOT_FOUND)
        status = TD_OK;
    ledger_reader_close(reader);
    config_free(config);
    return status;
}

static enum td_status open_tier(const struct call *call, struct tier_answers **out,
                                struct td_error *err)
{
    enum td_status status = tier_answers_open(call->config, call->tier, call->arguments, out, err);
    log_set_level(LOG_LEVEL_ERROR); /* the lines that follow say what matters */
    if (status == TD_OK && tier_answers_facts(*out)->place == TD_PLACE_CLOUD)
        status = error_set(err, TD_INVALID,
                           "tier %s is a cloud: its answers are what others are compared with",
                           tier_answers_facts(*out)->name);
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
    if (status == TD_OK && call->run)
        status = open_tier(call, &audit->asking.tier, err);
    if (status == TD_OK)
        status = command_read_all(call->file, &text, err);
    audit->classifier = classifier;
    audit->bar = call->bar;
    if (status == TD_OK) {
        status = audit_read_lines(audit, buf_view(&text), err);
        error_prefix(err, "%s", call->file);
    }
    if (status == TD_OK)
        status = call->run ? audit_ask(audit, buf_view(&text), call->questions, err)
                           : read_outcomes(call, audit, err);
    if (status == TD_OK && !(call->json ? print_json(audit) : print_text(audit)))
        status = error_set(err, TD_IO, "cannot write to standard output");
    classifier_close(classifier);
    buf_deinit(&text);
    return status;
}

static int cmd_router_audit(int argc, char **argv)
{
    struct call call = {.bar = 0.7,
                        .price_in = "0.15 USD/Mtok",
                        .price_out = "0.60 USD/Mtok",
                        .arguments = argv - 1, /* begin with "router" */
                        .questions = 200};
    since_option_init(&call.since, "all");
    const struct option options[] = {
        {"model", 'm', OPTION_TEXT, &call.model, "FILE",
         HELP_TEXT("classifier; default: the one beside the program"), 0, 0},
        {"p-local", 0, OPTION_NUMBER, &call.bar, "P",
         HELP_TEXT(
             "a question moves to the device if P(right answer there) is at least P; default 0.7"),
         0, 1},
        {"price-in", 0, OPTION_TEXT, &call.price_in, "PRICE",
         HELP_TEXT("price of prompt tokens for lines without cost_usd; default \"0.15 USD/Mtok\""),
         0, 0},
        {"price-out", 0, OPTION_TEXT, &call.price_out, "PRICE",
         HELP_TEXT("price of answer tokens; default \"0.60 USD/Mtok\""), 0, 0},
        {"run", 0, OPTION_FLAG, &call.run, NULL,
         HELP_TEXT("ask the device's model what would move, instead of reading the ledger"), 0, 0},
        {"questions", 'n', OPTION_UINT, &call.questions, "N",
         HELP_TEXT("ask at most N of them, drawn; default 200"), 1, AUDIT_LINES_MAX},
        {"tier", 't', OPTION_TEXT, &call.tier, "NAME",
         HELP_TEXT("ask this tier; default: the first whose place is the device"), 0, 0},
        OPTION_ROW_CONFIG(call.config),
        OPTION_ROW_SINCE(call.since, "all"),
        OPTION_ROW_JSON(call.json),
    };
    const struct option_spec spec = {
        .verb = "router audit",
        .arguments = "LOG.jsonl",
        .summary = HELP_TEXT(
            "Reads a log of requests that all went to a cloud. It says which of them the "
            "router would give to the device, what that would save, and how much of it "
            "the device gets right, with 95 % intervals, in total and for each task. What "
            "it gets right comes from the ledger: feedback on its answers, and shadows. With "
            "--run it is asked now, and must say the same as the line's \"answer\". "
            "Nothing is claimed without them.\n"
            "A line: {\"text\" or \"prompt\" or \"messages\", \"answer\": a text or a "
            "list of right ones, \"prompt_tokens\", \"completion_tokens\", \"cost_usd\"}; "
            "answer and numbers are optional."),
        .json = HELP_TEXT("{questions, movable, saving_usd, right, outcomes, asked, tasks}"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &call.file, NULL);
    if (!call.file)
        return options_misuse("router audit", "name a log of requests");
    if (call.tier && !call.run)
        return options_misuse("router audit", "--tier names who is asked, so it needs --run");
    struct td_error err = {0};
    struct audit *audit = calloc(1, sizeof *audit);
    enum td_status status =
        audit ? run(&call, audit, &err) : error_set(&err, TD_NO_MEMORY, "no memory");
    if (audit) {
        tier_answers_close(audit->asking.tier);
        audit_deinit(audit);
    }
    free(audit);
    return status == TD_OK ? 0 : command_fail("router audit", &err);
}

const struct verb verb_router_audit = {
    "audit", cmd_router_audit, HELP_TEXT("estimate which cloud requests a device could answer")};
