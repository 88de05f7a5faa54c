/* Lines are read one at a time, and once more for those that are asked: a log may be large, and of
 * each line only some numbers stay. */
#include "app/evidence/audit.h"

#include "api/wire/openai_messages.h"
#include "app/evidence/audit_answers.h"
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "base/json/json.h"
#include "base/ratio.h"
#include "ledger/record/ledger.h"

#include <stdlib.h>

#define LINE_ARENA_BYTES (16u << 20)
/* Without a count: bytes a token of English text, as tokenizers of the large models have it. */
#define BYTES_PER_TOKEN 4.0
#define ANSWER_TOKENS 200.0

_Static_assert(CLASSIFIER_TASKS_MAX + 1 < UINT8_MAX, "tasks_to_ask has room for each task");

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
    size_t place = verdict.task == SIZE_MAX ? CLASSIFIER_TASKS_MAX : verdict.task;
    bool moves = (double)verdict.p_local >= audit->bar, asks = moves && audit_answers_known(line);
    audit->tasks_to_ask[audit->count] = asks ? (uint8_t)(1 + place) : 0;
    audit->asking.moving += moves;
    audit->asking.candidates += asks;
    double *row = audit->rows + audit->count++ * AUDIT_COLUMN_COUNT;
    row[AUDIT_COST] = cost_of(audit, line, bytes);
    row[AUDIT_SAVING] = moves ? row[AUDIT_COST] : 0;
    row[AUDIT_MOVED] = moves;
    struct audit_task *task = &audit->tasks[place];
    task->lines++;
    task->moved += moves;
    task->saving += row[AUDIT_SAVING];
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

/* Room for one more line. */
static enum td_status grow(struct audit *audit, struct td_error *err)
{
    if (audit->count == AUDIT_LINES_MAX)
        return error_set(err, TD_LIMIT, "more than %u lines", AUDIT_LINES_MAX);
    if (audit->count < audit->capacity)
        return TD_OK;
    size_t capacity = audit->capacity ? 2 * audit->capacity : 1024;
    double *rows = realloc(audit->rows, capacity * AUDIT_COLUMN_COUNT * sizeof *rows);
    if (rows)
        audit->rows = rows;
    uint8_t *tasks = rows ? realloc(audit->tasks_to_ask, capacity) : NULL;
    if (!tasks)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu lines", capacity);
    audit->tasks_to_ask = tasks;
    audit->capacity = capacity;
    return TD_OK;
}

static enum td_status read_line(struct audit *audit, struct td_str text, struct td_error *err)
{
    struct json *line = NULL;
    size_t bytes = 0;
    enum td_status status = grow(audit, err);
    if (status == TD_OK)
        status = json_parse(text, &line, err);
    if (status == TD_OK && json_kind_of(line) != JSON_KIND_OBJECT)
        status = error_set(err, TD_INVALID, "not an object");
    if (status == TD_OK)
        status = read_utterance(audit, line, &bytes, err);
    if (status == TD_OK)
        judge_line(audit, line, bytes);
    json_free(line);
    return status;
}

enum td_status audit_read_lines(struct audit *audit, struct td_str lines, struct td_error *err)
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
    return bootstrap_means(audit->rows, audit->count, AUDIT_COLUMN_COUNT, 0.95, 1, audit->intervals,
                           err);
}

/* --- what was measured --- */

static void add_outcome(struct audit_outcomes *outcomes, double right)
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

enum td_status audit_read_ledger(struct audit *audit, struct ledger_reader *reader,
                                 uint64_t since_wall_ms, struct td_error *err)
{
    return ledger_reader_outcomes(reader, since_wall_ms, take_outcome, audit, err);
}

/* A question that the device cannot answer is no outcome; when it answers none, that is an
 * error. */
static void ask_line(struct audit *audit, struct td_str text, size_t task)
{
    struct audit_asking *asking = &audit->asking;
    struct json *line = NULL;
    enum audit_verdict verdict = AUDIT_UNKNOWN;
    struct td_error why = {0};
    enum td_status status = json_parse(text, &line, &why);
    if (status == TD_OK)
        status = audit_answers_ask(asking->tier, line, &verdict, &why);
    asking->asked++;
    if (status != TD_OK && asking->failed++ == 0)
        asking->why = why;
    if (status == TD_OK && verdict != AUDIT_UNKNOWN) {
        add_outcome(&audit->measured, verdict == AUDIT_RIGHT);
        add_outcome(&audit->tasks[task].measured, verdict == AUDIT_RIGHT);
    }
    json_free(line);
}

/* How many stay to be asked, of how many. */
static bool is_drawn(struct rng *rng, size_t *wanted, size_t *left)
{
    bool drawn = rng_below(rng, *left) < *wanted;
    *left -= 1;
    *wanted -= drawn;
    return drawn;
}

/* Which ones is drawn (Knuth, "The Art of Computer Programming", volume 2, algorithm S): every
 * tenth of a log that repeats itself would be no sample. */
enum td_status audit_ask(struct audit *audit, struct td_str lines, size_t most,
                         struct td_error *err)
{
    struct audit_asking *asking = &audit->asking;
    struct td_str text;
    struct rng rng;
    size_t left = asking->candidates, wanted = most < left ? most : left;
    if (asking->moving > 0 && left == 0)
        return error_set(err, TD_INVALID,
                         "none of the %zu questions that would move has an \"answer\" to compare "
                         "with, so --run can measure nothing",
                         asking->moving);
    rng_init(&rng, 1);
    for (size_t index = 0; str_next(&lines, '\n', &text);) {
        if (str_trim(text).len == 0)
            continue;
        size_t task = audit->tasks_to_ask[index++];
        if (task > 0 && is_drawn(&rng, &wanted, &left))
            ask_line(audit, text, task - 1);
    }
    if (asking->asked > 0 && asking->failed == asking->asked)
        return error_set(err, asking->why.status, "none of %zu questions was answered: %s",
                         asking->asked, asking->why.message);
    return TD_OK;
}

struct audit_share audit_right_of(const struct audit *audit, size_t task)
{
    const struct audit_outcomes *of =
        task <= CLASSIFIER_TASKS_MAX ? &audit->tasks[task].measured : &audit->measured;
    struct audit_share share = {.known = of->count >= AUDIT_OUTCOMES_MIN};
    if (!share.known)
        return share;
    share.mean = of->right / (double)of->count;
    ratio_share_interval(of->right, (double)of->count, &share.low, &share.high);
    return share;
}

void audit_deinit(struct audit *audit)
{
    free(audit->rows);
    free(audit->tasks_to_ask);
    *audit = (struct audit){.count = 0};
}
