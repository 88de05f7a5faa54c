/* One pass over the ledger. Each verdict is added to the line of its text, found by a hash; the
 * lines are written out at the end, in the order in which their texts first came. */
#include "app/evidence/ledger_lines.h"

#include "app/cli/command.h"
#include "app/config/config.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "ledger/record/ledger.h"
#include "request/request.h"
#include "router/plan/facts.h"
#include "router/plan/thresholds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LINES_MAX 1000000u
#define TEXT_BYTES_MAX ((size_t)1 << 30)
#define TENANTS_MAX 8
#define TURNS_MAX 256
/* The model said that a task is not its own; as gates have it. */
#define NOT_MINE_MIN 0.5
/* As the router reads a follow-up: shorter ones with the turns before. */
#define SHORT_BYTES 80
/* A kind of task that the classifier was less sure of would teach its mistakes. */
#define TASK_P_MIN 0.5
/* What a line of texts cannot say: tools, formats, adapters, completions, media. */
#define NEEDS_MORE \
    (~(unsigned)(CAPABILITY_NO_TRAIN | CAPABILITY_NO_RETENTION | CAPABILITY_SAMPLING))

struct line {
    uint64_t hash;
    size_t begin, end;                /* of its object without verdicts, in `keys` */
    double local, strong, confidence; /* confidence: the highest */
    uint32_t local_count, strong_count;
    char task[SIGNALS_TASK_BYTES];
};

struct tenant {
    char name[32]; /* "none" for the operator's */
    size_t count;
};

struct turn {
    enum td_role role;
    struct td_str text;
};

struct reading {
    const struct ledger_lines_options *options;
    struct ledger_lines *out;
    struct buf keys;
    struct line *lines;
    uint32_t *slots; /* [slot_count] 1 + a line; 0 = free */
    size_t count, capacity, slot_count;
    struct tenant tenants[TENANTS_MAX];
    size_t tenant_count;
};

/* What is known of an exchange; NAN = nothing. */
struct verdict_of {
    double local, strong;
    bool about_answer; /* `local` is about the text that was shown */
};

/* --- verdicts --- */

static struct verdict_of judge(const struct ledger_lesson *lesson, const struct json *signals,
                               struct ledger_lines *out)
{
    struct verdict_of verdict = {(double)NAN, (double)NAN, false};
    bool known = lesson->answered && !isnan(lesson->score);
    if (known && lesson->device)
        verdict = (struct verdict_of){lesson->score, (double)NAN, true};
    else if (known)
        verdict.strong = lesson->score;
    out->by_feedback += known;
    if (lesson->answered && !known && lesson->review) {
        out->for_review++;
        return verdict;
    }
    if (isnan(verdict.local) && lesson->answered && !isnan(lesson->same)) {
        verdict.local = lesson->same;
        verdict.about_answer = lesson->device;
        out->by_shadow++;
    } else if (isnan(verdict.local) &&
               json_number(json_get(signals, "not_mine"), 0) > NOT_MINE_MIN) {
        verdict.local = 0;
        out->by_refusal++;
    }
    return verdict;
}

/* For PROMPTS and ANSWERS only the asked tier's verdict counts, and it is in `local`. */
static void keep_own(const struct reading *reading, const struct ledger_lesson *lesson,
                     struct verdict_of *verdict)
{
    const char *tier = reading->options->tier;
    if (reading->options->kind == LEDGER_LINES_TEXTS)
        return;
    bool is_its = tier && lesson->tier && strcmp(tier, lesson->tier) == 0 && lesson->answered;
    if (tier)
        *verdict = (struct verdict_of){is_its ? lesson->score : (double)NAN, (double)NAN, true};
    verdict->strong = (double)NAN;
}

/* --- texts --- */

/* Takes the stored prompt apart. Records of before have no turns: one message is the user's. */
static size_t read_turns(const struct ledger_lesson *lesson, const struct json *signals,
                         struct turn turns[static TURNS_MAX])
{
    const struct json *list = json_get(signals, "turns");
    struct td_str prompt = str_from(lesson->prompt);
    size_t count = json_count(list), at = 0;
    if (!list && json_number(json_get(signals, "message_count"), 0) == 1) {
        turns[0] = (struct turn){TD_ROLE_USER, prompt};
        return 1;
    }
    for (size_t i = 0; i < count && count <= TURNS_MAX; i++) {
        const struct json *turn = json_at(list, i);
        double bytes = json_number(json_at(turn, 1), -1);
        at += i > 0;
        if (!names_role_parse(json_text(json_at(turn, 0)), &turns[i].role) || bytes < 0 ||
            at > prompt.len || bytes > (double)(prompt.len - at))
            return 0;
        turns[i].text = str_slice(prompt, at, at + (size_t)bytes);
        at += (size_t)bytes;
    }
    return count <= TURNS_MAX && at == prompt.len ? count : 0;
}

/* The user's own words: the last message, and before a short one the earlier ones too. */
static struct json *text_object(const struct turn *turns, size_t count)
{
    size_t first = count, bytes = 0;
    for (size_t i = count; i > 0 && bytes < SHORT_BYTES; i--) {
        if (turns[i - 1].role != TD_ROLE_USER)
            continue;
        bytes += turns[i - 1].text.len;
        first = i - 1;
    }
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    for (size_t i = first; i < count; i++) {
        if (turns[i].role != TD_ROLE_USER)
            continue;
        if (i > first)
            buf_append_char(&text, '\n');
        buf_append_str(&text, turns[i].text);
    }
    struct json *object = NULL;
    if (str_trim(buf_view(&text)).len > 0 && (object = json_new_object()))
        json_put(object, "text", json_new_text(buf_view(&text)));
    buf_deinit(&text);
    return object;
}

static struct json *messages_object(const struct turn *turns, size_t count)
{
    struct json *object = json_new_object(), *messages = json_new_array();
    for (size_t i = 0; i < count; i++) {
        if (turns[i].role == TD_ROLE_TOOL) {
            json_free(object);
            json_free(messages);
            return NULL;
        }
        struct json *message = json_new_object();
        json_put(message, "role", json_new_cstr(names_role(turns[i].role)));
        json_put(message, "content", json_new_text(turns[i].text));
        json_push(messages, message);
    }
    if (count == 1 && turns[0].role == TD_ROLE_USER) {
        json_put(object, "prompt", json_new_text(turns[0].text));
        json_free(messages);
    } else {
        json_put(object, "messages", messages);
    }
    return object;
}

/* The line without its verdict; NULL when it cannot be made. **returns new**. */
static struct json *object_of(const struct reading *reading, const struct ledger_lesson *lesson,
                              const struct json *signals, const struct verdict_of *verdict)
{
    struct turn turns[TURNS_MAX];
    size_t count = read_turns(lesson, signals, turns);
    if (count == 0)
        return NULL;
    if (reading->options->kind == LEDGER_LINES_TEXTS)
        return text_object(turns, count);
    unsigned needs = (unsigned)json_number(json_get(json_get(signals, "plan"), "needs"), 0);
    bool has_said =
        reading->options->kind == LEDGER_LINES_ANSWERS && verdict->about_answer && lesson->answer;
    if (needs & NEEDS_MORE || (reading->options->mistakes_from > 0 && !has_said))
        return NULL;
    struct json *object = messages_object(turns, count);
    if (object && has_said)
        json_put(object, "said", json_new_text(str_from(lesson->answer)));
    return object;
}

/* --- lines --- */

static bool grow(struct reading *reading)
{
    size_t capacity = reading->capacity ? 2 * reading->capacity : 256;
    struct line *lines = realloc(reading->lines, capacity * sizeof *lines);
    if (lines)
        reading->lines = lines;
    uint32_t *slots = lines ? calloc(2 * capacity, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(reading->slots);
    reading->slots = slots;
    reading->slot_count = 2 * capacity;
    reading->capacity = capacity;
    for (size_t i = 0; i < reading->count; i++) {
        size_t at = lines[i].hash & (reading->slot_count - 1);
        while (slots[at])
            at = (at + 1) & (reading->slot_count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    return true;
}

/* The line of that object, which is made when it is new; NULL without room. */
static struct line *find_line(struct reading *reading, const struct json *object)
{
    if (reading->count == reading->capacity && !grow(reading))
        return NULL;
    size_t begin = reading->keys.len;
    json_write(object, &reading->keys);
    if (reading->keys.failed || reading->count == LINES_MAX)
        return NULL;
    struct td_str key = str_slice(buf_view(&reading->keys), begin, reading->keys.len);
    uint64_t hash = hash_mix64(hash_fnv1a64(key.data, key.len, HASH_FNV1A64_BASIS));
    size_t at = hash & (reading->slot_count - 1);
    for (; reading->slots[at]; at = (at + 1) & (reading->slot_count - 1)) {
        struct line *line = &reading->lines[reading->slots[at] - 1];
        if (line->hash == hash &&
            str_equal(str_slice(buf_view(&reading->keys), line->begin, line->end), key)) {
            reading->keys.len = begin;
            return line;
        }
    }
    struct line *line = &reading->lines[reading->count];
    *line = (struct line){.hash = hash, .begin = begin, .end = reading->keys.len};
    reading->slots[at] = (uint32_t)++reading->count;
    return line;
}

static void count_tenant(struct reading *reading, const char *name)
{
    name = name ? name : LEDGER_LINES_TENANT_NONE;
    for (size_t i = 0; i < reading->tenant_count; i++) {
        if (strcmp(reading->tenants[i].name, name) == 0) {
            reading->tenants[i].count++;
            return;
        }
    }
    if (reading->tenant_count == TENANTS_MAX)
        return; /* those are enough to choose from */
    struct tenant *tenant = &reading->tenants[reading->tenant_count++];
    snprintf(tenant->name, sizeof tenant->name, "%s", name);
    tenant->count = 1;
}

static bool is_asked_for(const struct ledger_lines_options *options,
                         const struct ledger_lesson *lesson)
{
    const char *tenant = lesson->tenant ? lesson->tenant : LEDGER_LINES_TENANT_NONE;
    bool any = !options->tenant || strcmp(options->tenant, LEDGER_LINES_TENANT_ALL) == 0;
    if (options->route && (!lesson->route || strcmp(options->route, lesson->route) != 0))
        return false;
    return any || strcmp(options->tenant, tenant) == 0;
}

/* Whether its text may be learnt from, and can be; else it is counted why not. */
static bool is_usable(struct reading *reading, const struct ledger_lesson *lesson)
{
    struct ledger_lines *out = reading->out;
    const char *model = reading->options->model;
    enum td_data_class data_class;
    if (model && !reading->options->tier && lesson->model && strcmp(model, lesson->model) != 0) {
        out->other_model++;
        return false;
    }
    if (!names_class_parse(str_from(lesson->data_class), &data_class) ||
        data_class >= TD_CLASS_CONTRACTUAL) {
        out->confidential++;
        return false;
    }
    out->without_text += !lesson->prompt;
    return lesson->prompt != NULL;
}

static enum td_status add_lesson(struct reading *reading, const struct ledger_lesson *lesson,
                                 const struct json *signals, const struct verdict_of *verdict,
                                 struct td_error *err)
{
    struct json *object = object_of(reading, lesson, signals, verdict);
    if (!object) {
        reading->out->unusable++;
        return TD_OK;
    }
    struct line *line = find_line(reading, object);
    json_free(object);
    if (!line)
        return error_set(err, TD_LIMIT,
                         "no room for more than %zu lines; choose fewer with --since",
                         reading->count);
    count_tenant(reading, lesson->tenant);
    line->local += isnan(verdict->local) ? 0 : verdict->local;
    line->strong += isnan(verdict->strong) ? 0 : verdict->strong;
    line->local_count += !isnan(verdict->local);
    line->confidence = fmax(line->confidence, lesson->confidence); /* of NAN the other */
    line->strong_count += !isnan(verdict->strong);
    struct td_str task = json_text(json_get(signals, "task"));
    if (json_number(json_get(signals, "task_p"), 0) >= TASK_P_MIN && task.len < sizeof line->task)
        snprintf(line->task, sizeof line->task, "%.*s", (int)task.len, task.data);
    return TD_OK;
}

static enum td_status read_row(void *ctx, const struct ledger_lesson *lesson, struct td_error *err)
{
    struct reading *reading = ctx;
    struct json *signals = NULL;
    enum td_status status = TD_OK;
    if (!is_asked_for(reading->options, lesson))
        return TD_OK;
    reading->out->exchanges++;
    if (json_parse(str_from(lesson->signals_json), &signals, NULL) != TD_OK)
        return TD_OK; /* recorded by something else */
    bool all = reading->options->kind == LEDGER_LINES_TRAFFIC;
    struct verdict_of verdict = {(double)NAN, (double)NAN, false};
    if (!all) {
        verdict = judge(lesson, signals, reading->out);
        keep_own(reading, lesson, &verdict);
    }
    if ((all || !isnan(verdict.local) || !isnan(verdict.strong)) && is_usable(reading, lesson))
        status = add_lesson(reading, lesson, signals, &verdict, err);
    json_free(signals);
    return status;
}

/* --- the result --- */

static void put_verdict(struct buf *out, const char *name, double sum, uint32_t count)
{
    if (count)
        buf_printf(out, ", \"%s\": %.4g", name, sum / count);
}

static void put_task(struct buf *out, const struct line *line)
{
    if (*line->task == '\0')
        return;
    struct json *task = json_new_cstr(line->task);
    buf_append_str(out, STR(", \"task\": "));
    json_write(task, out);
    json_free(task);
}

/* Whether it is one of those that were asked for. */
static bool is_kept(const struct reading *reading, const struct line *line)
{
    double from = reading->options->mistakes_from;
    bool wrong = line->local < 0.5 * line->local_count;
    reading->out->mistakes += from > 0 && wrong;
    return from <= 0 || (wrong && line->confidence >= from);
}

static enum td_status write_lines(struct reading *reading, struct td_error *err)
{
    struct buf *out = &reading->out->text;
    for (size_t i = 0; i < reading->count; i++) {
        const struct line *line = &reading->lines[i];
        if (!is_kept(reading, line))
            continue;
        reading->out->count++;
        struct td_str key = str_slice(buf_view(&reading->keys), line->begin, line->end - 1);
        buf_append_str(out, key); /* without its closing brace */
        if (reading->options->kind == LEDGER_LINES_TEXTS) {
            put_verdict(out, "local_ok", line->local, line->local_count);
            put_verdict(out, "strong_ok", line->strong, line->strong_count);
            put_task(out, line);
        } else if (reading->options->kind == LEDGER_LINES_TRAFFIC) {
            put_task(out, line);
        } else {
            buf_printf(out, ", \"right\": %s",
                       line->local >= 0.5 * line->local_count ? "true" : "false");
        }
        buf_append_str(out, STR("}\n"));
    }
    return out->failed ? error_set(err, TD_LIMIT,
                                   "the lines take more than 1 GiB; choose fewer "
                                   "with --since")
                       : TD_OK;
}

static enum td_status check_tenants(const struct reading *reading, struct td_error *err)
{
    char list[TENANTS_MAX * 64] = "";
    size_t len = 0;
    if (reading->options->tenant || reading->tenant_count < 2)
        return TD_OK;
    for (size_t i = 0; i < reading->tenant_count; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s (%zu)", i ? ", " : "",
                                reading->tenants[i].name, reading->tenants[i].count);
    return error_set(err, TD_INVALID,
                     "what could be taken is of several tenants: %s; choose one with "
                     "--tenant, or mix them with --tenant all",
                     list);
}

/* What is missing, the nearest to a line first. */
static enum td_status say_nothing(const struct ledger_lines *out,
                                  const struct ledger_lines_options *options, struct td_error *err)
{
    size_t verdicts = out->by_feedback + out->by_shadow + out->by_refusal;
    if (out->exchanges == 0)
        return error_set(err, TD_NOT_FOUND,
                         "the ledger has no such exchange since %s: look further back with --since "
                         "all, or give a file of lines",
                         options->since.text);
    if (options->kind == LEDGER_LINES_TRAFFIC)
        return error_set(err, TD_NOT_FOUND,
                         "%zu exchanges, and no prompt can be measured with: of %zu no text is "
                         "stored (set ledger.store_prompts: true), %zu are contractual or "
                         "restricted, %zu more than texts",
                         out->exchanges, out->without_text, out->confidential, out->unusable);
    if (verdicts == 0)
        return error_set(err, TD_NOT_FOUND,
                         "%zu exchanges, and nobody knows which answers were right (%zu wait for a "
                         "person): give feedback (POST /tandem/v1/feedback), or let shadows "
                         "compare (routes[].shadow.edge_share)",
                         out->exchanges, out->for_review);
    if (out->without_text)
        return error_set(err, TD_NOT_FOUND,
                         "%zu answers were judged, but no text of them is stored: set "
                         "ledger.store_prompts: true, and what is judged from then on can be "
                         "learnt from",
                         verdicts);
    return error_set(err, TD_NOT_FOUND,
                     "%zu answers were judged, and none can be learnt from: %zu are contractual or "
                     "restricted, %zu more than texts or recorded without who said what, %zu of "
                     "another model, the others of another tier",
                     verdicts, out->confidential, out->unusable, out->other_model);
}

static enum td_status read_ledger(const struct ledger_lines_options *options,
                                  struct ledger_lines *out, struct td_error *err)
{
    struct config *config = NULL;
    struct ledger_reader *reader = NULL;
    struct reading reading = {.options = options, .out = out};
    buf_init(&reading.keys, TEXT_BYTES_MAX);
    enum td_status status = config_load(options->config, &config, err);
    if (status == TD_OK)
        status = command_open_ledger(config, &reader, err);
    if (status == TD_OK)
        status = ledger_reader_lessons(reader, options->since.wall_ms, read_row, &reading, err);
    if (status == TD_OK)
        status = check_tenants(&reading, err);
    if (status == TD_OK)
        status = reading.count ? write_lines(&reading, err) : say_nothing(out, options, err);
    ledger_reader_close(reader);
    config_free(config);
    buf_deinit(&reading.keys);
    free(reading.lines);
    free(reading.slots);
    return status;
}

static enum td_status read_file(const char *file, struct ledger_lines *out, struct td_error *err)
{
    struct buf text = {0};
    enum td_status status = command_read_all(file, &text, err);
    if (status == TD_OK) {
        buf_append_str(&out->text, buf_view(&text));
        buf_append_char(&out->text, '\n');
        if (out->text.failed)
            status = error_set(err, TD_LIMIT, "%s: more than 1 GiB", file);
    }
    buf_deinit(&text);
    return status;
}

enum td_status ledger_lines_read(const struct ledger_lines_options *options, const char *file,
                                 struct ledger_lines *out, struct td_error *err)
{
    *out = (struct ledger_lines){0};
    buf_init(&out->text, TEXT_BYTES_MAX);
    enum td_status status = file ? read_file(file, out, err) : TD_OK;
    out->begin = out->text.len;
    return status == TD_OK && options->on ? read_ledger(options, out, err) : status;
}

const char *ledger_lines_name(const struct ledger_lines_options *options, const char *file)
{
    return !options->on ? file : file ? "the file and the ledger" : "the ledger";
}

static enum td_status write_to(const struct ledger_lines *lines, const char *path,
                               struct td_error *err)
{
    if (strcmp(path, "-") != 0)
        return file_replace(path, buf_view(&lines->text), 0600, err);
    return command_print(buf_view(&lines->text)) && fflush(stdout) == 0
               ? TD_OK
               : error_set(err, TD_IO, "cannot write to standard output");
}

enum td_status ledger_lines_tell(const struct ledger_lines_options *options,
                                 const struct ledger_lines *lines, bool *done, struct td_error *err)
{
    if (options->on && options->kind == LEDGER_LINES_TRAFFIC)
        fprintf(stderr,
                "ledger: %zu exchanges, %zu different prompts (%zu without a stored text, %zu "
                "contractual or restricted, %zu more than texts)\n",
                lines->exchanges, lines->count, lines->without_text, lines->confidential,
                lines->unusable);
    else if (options->on)
        fprintf(stderr,
                "ledger: %zu exchanges; judged by feedback %zu, shadows %zu, refusals %zu; %zu "
                "lines (%zu without a stored text, %zu contractual or restricted, %zu more than "
                "texts, %zu of another model)\n",
                lines->exchanges, lines->by_feedback, lines->by_shadow, lines->by_refusal,
                lines->count, lines->without_text, lines->confidential, lines->unusable,
                lines->other_model);
    *done = options->lines != NULL;
    return *done ? write_to(lines, options->lines, err) : TD_OK;
}

struct json *ledger_lines_json(const struct ledger_lines *lines)
{
    struct json *object = json_new_object();
    const struct {
        const char *name;
        size_t count;
    } counts[] = {
        {"exchanges", lines->exchanges},
        {"by_feedback", lines->by_feedback},
        {"by_shadow", lines->by_shadow},
        {"by_refusal", lines->by_refusal},
        {"lines", lines->count},
        {"without_text", lines->without_text},
        {"confidential", lines->confidential},
        {"unusable", lines->unusable},
        {"other_model", lines->other_model},
        {"for_review", lines->for_review},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_put(object, counts[i].name, json_new_int((int64_t)counts[i].count));
    return object;
}

void ledger_lines_deinit(struct ledger_lines *lines)
{
    buf_deinit(&lines->text);
}
