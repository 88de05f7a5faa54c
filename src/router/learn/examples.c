/* Reading labelled lines. The n-grams of a line are hashed at once and its text is dropped, so that
 * a million lines fit into memory. */
#include "router/learn/examples.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "router/judge/classifier_format.h"

#include <math.h>
#include <stdlib.h>

struct reading {
    struct examples *out;
    struct utterance utterance;
    struct ngrams ngrams;
    size_t line;
    struct td_error *err;
};

static enum td_status no_memory(struct td_error *err)
{
    return error_set(err, TD_NO_MEMORY, "no memory for the examples");
}

static bool grow(void **array, size_t element_bytes, size_t needed, size_t *capacity)
{
    if (needed <= *capacity)
        return true;
    size_t wanted = *capacity ? *capacity : 1024;
    while (wanted < needed)
        wanted *= 2;
    void *grown = realloc(*array, wanted * element_bytes);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* true, false or a number from 0 to 1; absent is NAN. */
static enum td_status read_outcome(struct reading *reading, const struct json *line,
                                   const char *key, float *out)
{
    const struct json *value = json_get(line, key);
    enum json_kind kind = json_kind_of(value);
    double number = kind == JSON_KIND_BOOL ? json_bool(value, false) : json_number(value, -1);
    *out = NAN;
    if (kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL)
        return TD_OK;
    if ((kind != JSON_KIND_BOOL && kind != JSON_KIND_INT && kind != JSON_KIND_DOUBLE) ||
        !(number >= 0 && number <= 1))
        return error_set(reading->err, TD_INVALID,
                         "line %zu: \"%s\" is neither true, false nor a number from 0 to 1",
                         reading->line, key);
    *out = (float)number;
    return TD_OK;
}

/* Tasks are numbered as they come and put in order at the end. */
static enum td_status read_task(struct reading *reading, const struct json *line, int32_t *out)
{
    struct examples *examples = reading->out;
    const struct json *value = json_get(line, "task");
    struct td_str name = json_text(value);
    enum json_kind kind = json_kind_of(value);
    *out = -1;
    if (kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL)
        return TD_OK;
    if (kind != JSON_KIND_TEXT || name.len == 0 || name.len >= CLASSIFIER_TASK_BYTES ||
        memchr(name.data, '\0', name.len))
        return error_set(reading->err, TD_INVALID, "line %zu: \"task\" is no name of 1 to %d bytes",
                         reading->line, CLASSIFIER_TASK_BYTES - 1);
    size_t task = 0;
    while (task < examples->task_count && !str_equal(str_from(examples->task_name[task]), name))
        task++;
    if (task == CLASSIFIER_TASKS_MAX)
        return error_set(reading->err, TD_INVALID, "line %zu: more than %d different tasks",
                         reading->line, CLASSIFIER_TASKS_MAX);
    if (task == examples->task_count)
        memcpy(examples->task_name[examples->task_count++], name.data, name.len);
    *out = (int32_t)task;
    return TD_OK;
}

static enum td_status read_labels(struct reading *reading, struct td_str text,
                                  struct example *example, struct json **out)
{
    struct td_error broken = {0};
    if (json_parse(text, out, &broken) != TD_OK)
        return error_set(reading->err, TD_INVALID, "line %zu: %s", reading->line, broken.message);
    const struct json *line = *out;
    if (json_kind_of(line) != JSON_KIND_OBJECT)
        return error_set(reading->err, TD_INVALID, "line %zu: not an object", reading->line);
    if (json_kind_of(json_get(line, "text")) != JSON_KIND_TEXT)
        return error_set(reading->err, TD_INVALID, "line %zu: no \"text\"", reading->line);
    enum td_status status =
        read_outcome(reading, line, "local_ok", &example->outcome[OUTCOME_LOCAL]);
    if (status == TD_OK)
        status = read_outcome(reading, line, "strong_ok", &example->outcome[OUTCOME_STRONG]);
    if (status == TD_OK)
        status = read_task(reading, line, &example->task);
    return status;
}

static enum td_status add_ngrams(struct reading *reading, struct td_str text,
                                 struct example *example)
{
    struct examples *examples = reading->out;
    utterance_read_text(text, &reading->utterance);
    features_read(&reading->utterance, &example->features);
    ngrams_read(&reading->utterance, NGRAM_BITS_MAX, &reading->ngrams);
    size_t count = reading->ngrams.count;
    if (!grow((void **)&examples->buckets, sizeof *examples->buckets,
              examples->bucket_count + count, &examples->bucket_capacity))
        return no_memory(reading->err);
    if (count) /* a text without words may be the first one */
        memcpy(examples->buckets + examples->bucket_count, reading->ngrams.bucket,
               count * sizeof *examples->buckets);
    example->begin = examples->bucket_count;
    example->words_end = example->begin + reading->ngrams.word_count;
    example->end = examples->bucket_count += count;
    return TD_OK;
}

static enum td_status read_example(struct reading *reading, struct td_str text)
{
    struct examples *examples = reading->out;
    struct json *line = NULL;
    if (examples->count == EXAMPLES_MAX)
        return error_set(reading->err, TD_LIMIT, "line %zu: more than %u lines", reading->line,
                         EXAMPLES_MAX);
    if (!grow((void **)&examples->items, sizeof *examples->items, examples->count + 1,
              &examples->capacity))
        return no_memory(reading->err);
    struct example *example = &examples->items[examples->count];
    memset(example, 0, sizeof *example);
    enum td_status status = read_labels(reading, text, example, &line);
    if (status == TD_OK)
        status = add_ngrams(reading, json_text(json_get(line, "text")), example);
    examples->count += status == TD_OK;
    json_free(line);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The numbers of tasks must not depend on the order of the lines. */
static void sort_tasks(struct examples *examples)
{
    char old[CLASSIFIER_TASKS_MAX][CLASSIFIER_TASK_BYTES];
    int32_t number[CLASSIFIER_TASKS_MAX];
    memcpy(old, examples->task_name, sizeof old);
    qsort(examples->task_name, examples->task_count, sizeof examples->task_name[0], by_name);
    for (size_t was = 0; was < examples->task_count; was++)
        for (size_t now = 0; now < examples->task_count; now++)
            if (strcmp(old[was], examples->task_name[now]) == 0)
                number[was] = (int32_t)now;
    for (size_t i = 0; i < examples->count; i++)
        if (examples->items[i].task >= 0)
            examples->items[i].task = number[examples->items[i].task];
}

enum td_status examples_read(struct td_str jsonl, struct examples *out, struct td_error *err)
{
    memset(out, 0, sizeof *out);

    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return no_memory(err);
    reading->out = out;
    reading->err = err;
    enum td_status status = TD_OK;
    struct td_str line;
    while (status == TD_OK && str_next(&jsonl, '\n', &line)) {
        reading->line++;
        if (str_trim(line).len > 0)
            status = read_example(reading, line);
    }
    free(reading);
    if (status == TD_OK && out->count == 0)
        status = error_set(err, TD_INVALID, "no lines to train on");
    sort_tasks(out);
    return status;
}

void examples_deinit(struct examples *examples)
{
    free(examples->items);
    free(examples->buckets);
    memset(examples, 0, sizeof *examples);
}
