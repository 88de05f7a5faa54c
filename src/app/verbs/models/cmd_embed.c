/* tandem embed: vectors of texts, from encoders and decoders alike. */
#define HELP_OF 51
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/embedding/embedding.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXTS_MAX 64 /* on the command line; standard input has no such limit */

struct run {
    const struct td_model *model;
    struct td_embedder *embedder;
    float *vector; /* [dimensions] */
    size_t dimensions;
    struct json *rows; /* with --json */
    uint64_t token_count;
    size_t text_count;
};

static bool print_vector(const struct run *run)
{
    bool ok = true;
    for (size_t i = 0; i < run->dimensions; i++)
        ok = printf("%s%.8g", i ? " " : "", (double)run->vector[i]) > 0 && ok;
    return putchar('\n') != EOF && ok;
}

static void push_vector(struct run *run, size_t token_count)
{
    struct json *row = json_new_object(), *values = json_new_array();
    for (size_t i = 0; i < run->dimensions; i++)
        json_push(values, json_new_double((double)run->vector[i]));
    json_put(row, "index", json_new_int((int64_t)run->text_count));
    json_put(row, "tokens", json_new_int((int64_t)token_count));
    json_put(row, "embedding", values);
    json_push(run->rows, row);
}

static enum td_status embed_one(struct run *run, struct td_str text, struct td_error *err)
{
    size_t token_count = 0, wide = td_model_get_info(run->model)->embedding_size;
    struct td_error cause = {0};
    enum td_status status = td_embed_text(run->embedder, text, run->vector, &token_count, &cause);
    if (status != TD_OK)
        return error_set(err, status, "TEXT %zu: %s", run->text_count + 1, cause.message);
    if (run->dimensions < wide)
        embedding_normalise(run->vector, run->dimensions);
    if (run->rows)
        push_vector(run, token_count);
    else if (!print_vector(run))
        return error_set(err, TD_IO, "standard output is closed");
    run->token_count += token_count;
    run->text_count++;
    return TD_OK;
}

static enum td_status embed_lines(struct run *run, struct td_error *err)
{
    struct buf input = {0};
    struct td_str line;
    enum td_status status = command_read_all(NULL, &input, err);
    struct td_str rest = buf_view(&input);
    while (status == TD_OK && str_next(&rest, '\n', &line))
        if (line.len > 0)
            status = embed_one(run, line, err);
    if (status == TD_OK && run->text_count == 0)
        status = error_set(err, TD_INVALID, "there is no text on standard input");
    buf_deinit(&input);
    return status;
}

static bool print_json(struct run *run)
{
    struct json *out = json_new_object();
    json_put(out, "model", json_new_cstr(td_model_get_info(run->model)->name));
    json_put(out, "pooling", json_new_cstr(pooling_name(td_embedder_pooling(run->embedder))));
    json_put(out, "dimensions", json_new_int((int64_t)run->dimensions));
    json_put(out, "tokens", json_new_int((int64_t)run->token_count));
    json_put(out, "data", run->rows);
    run->rows = NULL;
    return command_print_json(out);
}

static enum td_status open_run(struct run *run, const struct td_embedder_options *options,
                               uint32_t dimensions, bool json, struct td_error *err)
{
    size_t wide = td_model_get_info(run->model)->embedding_size;
    enum td_status status = td_embedder_new(run->model, options, &run->embedder, err);
    if (status != TD_OK)
        return status;
    if (dimensions > wide)
        return error_set(err, TD_INVALID, "--dimensions is %u, but the model has only %zu",
                         dimensions, wide);
    run->dimensions = dimensions ? dimensions : wide;
    run->vector = calloc(wide, sizeof *run->vector);
    run->rows = json ? json_new_array() : NULL;
    if (run->vector == NULL || (json && run->rows == NULL))
        return error_set(err, TD_NO_MEMORY, "no memory for a vector of %zu", wide);
    return TD_OK;
}

static int cmd_embed(int argc, char **argv)
{
    const char *model_path = NULL, *pooling = NULL, *texts[TEXTS_MAX];
    size_t text_count = 0;
    uint32_t dimensions = 0, context = 0, threads = 0;
    bool json = false;
    enum td_cpu cpu = TD_CPU_AUTO;
    struct td_embedder_options how = {0};
    const struct option options[] = {
        OPTION_ROW_MODEL(model_path),
        {"pooling", 0, OPTION_TEXT, &pooling, "METHOD",
         HELP_TEXT("how token vectors become one: mean, cls or last; default: what the model says"),
         0, 0},
        {"dimensions", 0, OPTION_UINT, &dimensions, "N",
         HELP_TEXT("keep the first N numbers, and make the length 1 again"), 1, 1e6},
        {"context", 0, OPTION_UINT, &context, "N", HELP_TEXT("most tokens of a text; default 2048"),
         1, 1e9},
        OPTION_ROW_THREADS(threads),
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "embed",
        .arguments = "[TEXT]...",
        .summary = HELP_TEXT(
            "Turns each TEXT into a vector of length 1 and prints its numbers on one line. "
            "Without TEXT each line of standard input is one. Encoders (bert, nomic-bert) "
            "and decoders both work."),
        OPTION_TABLE(options),
        .positional_max = TEXTS_MAX,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, texts, &text_count);
    if (pooling && !pooling_parse(pooling, &how.pooling))
        return options_misuse("embed", "--pooling must be one of mean, cls, last, not '%.60s'",
                              pooling);
    how.thread_count = threads;
    how.context_tokens = context;
    struct td_error err = {0};
    struct td_model *model = NULL;
    enum td_status status = command_open_model(model_path, cpu, false, &model, &err);
    struct run run = {.model = model};
    if (status == TD_OK)
        status = open_run(&run, &how, dimensions, json, &err);
    for (size_t i = 0; status == TD_OK && i < text_count; i++)
        status = embed_one(&run, str_from(texts[i]), &err);
    if (status == TD_OK && text_count == 0)
        status = embed_lines(&run, &err);
    bool printed = status != TD_OK || !json || print_json(&run);
    json_free(run.rows);
    free(run.vector);
    td_embedder_free(run.embedder);
    td_model_close(model);
    return status == TD_OK ? !printed : command_fail("embed", &err);
}

const struct verb verb_embed = {"embed", cmd_embed, HELP_TEXT("turn texts into vectors")};
