/* tandem logits: raw outputs for comparison with other implementations. The rows are written in
 * blocks, so that the memory does not depend on the length of the input. */
#define HELP_OF 53
#include "app/cli/command.h"
#include "app/cli/lora_options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows of logits computed at a time: bounds the memory for long inputs and large vocabularies. */
#define ROWS_AT_ONCE 64
/* td_session_options.context_tokens = 0 is at most this. */
#define CONTEXT_DEFAULT 4096

_Static_assert(sizeof(float) == 4, "the file format is IEEE float32");

/* The format is little-endian; so is every machine that this program is built for. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "writing logits needs a byte swap on this machine"
#endif

#define NO_LAYER UINT32_MAX

struct logits_options {
    const char *model, *ids, *ids_file, *out;
    uint32_t last, threads, hidden_layer;
    enum td_cpu cpu;
    struct lora_options lora;
    bool json;
};

/* What the file holds. */
struct written {
    size_t first_row, row_count, width;
    char model[256], fingerprint[32];
};

/* Rows of `width` floats: logits, or what a layer leaves behind. */
static enum td_status run_rows(const struct logits_options *options, struct td_session *session,
                               const int32_t *ids, size_t count, float *rows, size_t row_count,
                               struct td_error *err)
{
    if (options->hidden_layer == NO_LAYER)
        return td_session_forward(session, ids, count, rows, row_count, err);
    return td_session_forward_hidden(session, ids, count, options->hidden_layer, rows, row_count,
                                     err);
}

static enum td_status write_rows(const struct logits_options *options, struct td_session *session,
                                 const int32_t *ids, size_t count, size_t first_row, size_t width,
                                 FILE *out, struct td_error *err)
{
    float *rows = calloc(ROWS_AT_ONCE * width, sizeof *rows);
    if (!rows)
        return error_set(err, TD_NO_MEMORY, "no memory for %d rows of %zu numbers", ROWS_AT_ONCE,
                         width);
    enum td_status status = TD_OK;
    if (first_row > 0)
        status = td_session_forward(session, ids, first_row, NULL, 0, err);
    for (size_t at = first_row; at < count && status == TD_OK; at += ROWS_AT_ONCE) {
        size_t rows_now = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        status = run_rows(options, session, ids + at, rows_now, rows, rows_now, err);
        if (status == TD_OK && fwrite(rows, width * sizeof *rows, rows_now, out) != rows_now)
            status = error_set(err, TD_IO, "cannot write the numbers: %s", strerror(errno));
    }
    free(rows);
    return status;
}

static enum td_status read_ids(const struct logits_options *options, int32_t **ids, size_t *count,
                               struct td_error *err)
{
    struct buf input = {0};
    enum td_status status = TD_OK;
    if (!options->ids)
        status = command_read_all(options->ids_file, &input, err);
    if (status == TD_OK)
        status = command_parse_ids(options->ids ? str_from(options->ids) : buf_view(&input), ids,
                                   count, err);
    if (status == TD_OK && (*count == 0 || *count > UINT32_MAX))
        status = error_set(err, TD_INVALID, "there are no token ids");
    buf_deinit(&input);
    return status;
}

static bool print_json(const struct logits_options *options, const struct written *written)
{
    bool hidden = options->hidden_layer != NO_LAYER;
    struct json *object = json_new_object(), *shape = json_new_array();
    char *path = realpath(options->out, NULL);
    json_push(shape, json_new_int((int64_t)written->row_count));
    json_push(shape, json_new_int((int64_t)written->width));
    json_put(object, "written", json_new_bool(true));
    json_put(object, "path", json_new_cstr(path ? path : options->out));
    json_put(object, "content", json_new_cstr(hidden ? "hidden" : "logits"));
    if (hidden)
        json_put(object, "layer", json_new_int(options->hidden_layer));
    json_put(object, "type", json_new_cstr("float32"));
    json_put(object, "byte_order", json_new_cstr("little"));
    json_put(object, "shape", shape);
    json_put(object, "first_position", json_new_int((int64_t)written->first_row));
    json_put(object, "bytes",
             json_new_int((int64_t)(written->row_count * written->width * sizeof(float))));
    json_put(object, "model", json_new_cstr(written->model));
    json_put(object, "fingerprint", json_new_cstr(written->fingerprint));
    free(path);
    return command_print_json(object);
}

static enum td_status run(const struct logits_options *options, struct written *written,
                          struct td_error *err)
{
    struct td_model *model = NULL;
    struct td_session *session = NULL;
    int32_t *ids = NULL;
    size_t count = 0;
    FILE *out = NULL;
    enum td_status status = command_spare_inputs(
        options->out, (const char *const[]){options->model, options->ids_file}, 2, err);
    if (status == TD_OK)
        status = command_spare_inputs(options->out, options->lora.files, options->lora.count, err);
    if (status == TD_OK)
        status = command_open_model(options->model, options->cpu, false, &model, err);
    if (status == TD_OK)
        status = read_ids(options, &ids, &count, err);
    /* The context of a session decides between rope factors: not to depend on the count, it is the
     * default one as long as the ids fit. */
    struct td_session_options session_options = {.context_tokens =
                                                     count > CONTEXT_DEFAULT ? (uint32_t)count : 0,
                                                 .thread_count = options->threads,
                                                 .kv_type = TD_KV_F32};
    if (status == TD_OK)
        status = td_session_new(model, &session_options, &session, err);
    if (status == TD_OK)
        status = lora_options_apply(&options->lora, model, session, err);
    if (status == TD_OK && !(out = fopen(options->out, "wbe")))
        status = error_set(err, TD_IO, "%s: %s", options->out, strerror(errno));
    if (status == TD_OK) {
        const struct td_model_info *info = td_model_get_info(model);
        bool hidden = options->hidden_layer != NO_LAYER;
        written->first_row = options->last && options->last < count ? count - options->last : 0;
        written->row_count = count - written->first_row;
        written->width = hidden ? info->embedding_size : info->vocab_count;
        snprintf(written->model, sizeof written->model, "%s", info->name);
        snprintf(written->fingerprint, sizeof written->fingerprint, "%s", info->fingerprint);
        status =
            write_rows(options, session, ids, count, written->first_row, written->width, out, err);
    }
    if (out && fclose(out) != 0 && status == TD_OK)
        status = error_set(err, TD_IO, "%s: %s", options->out, strerror(errno));
    free(ids);
    td_session_free(session);
    td_model_close(model);
    return status;
}

static int cmd_logits(int argc, char **argv)
{
    struct logits_options values = {.hidden_layer = NO_LAYER, .cpu = TD_CPU_AUTO};
    lora_options_init(&values.lora);
    struct option_each ids_option = {command_take_ids, &values.ids, COMMAND_IDS_NEEDED};
    const struct option options[] = {
        OPTION_ROW_MODEL(values.model),
        {"ids", 0, OPTION_EACH, &ids_option, "1,2,3",
         HELP_TEXT("the token ids; default: standard input"), 0, 0},
        {"ids-file", 0, OPTION_TEXT, &values.ids_file, "FILE", HELP_TEXT("file with the token ids"),
         0, 0},
        {"last", 0, OPTION_UINT, &values.last, "N", HELP_TEXT("only the last N positions"), 1, 1e9},
        {"hidden-layer", 0, OPTION_UINT, &values.hidden_layer, "N",
         HELP_TEXT("write the hidden state after N layers instead: [positions, embedding]"), 0,
         1024},
        {"output", 'o', OPTION_TEXT, &values.out, "FILE", HELP_TEXT("file to write; required"), 0,
         0},
        OPTION_ROW_LORA(values.lora),
        OPTION_ROW_LORA_SCALE(values.lora),
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_CPU(values.cpu),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "logits",
        .summary = HELP_TEXT(
            "Runs token ids through the model and writes the logits of each position to a "
            "file: little-endian float32, [positions, vocabulary], no header. The KV cache "
            "is float32."),
        .json = HELP_TEXT("{path, content, type, byte_order, shape, first_position, bytes, model, "
                          "fingerprint}"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    if (!values.out)
        return options_misuse("logits", "name the file to write with -o FILE");
    if (values.lora.scale_given && values.lora.count == 0)
        return options_misuse("logits", "--lora-scale needs an adapter: --lora FILE");
    struct td_error err = {0};
    struct written written = {0};
    if (run(&values, &written, &err) != TD_OK)
        return command_fail("logits", &err);
    return values.json ? !print_json(&values, &written) : 0;
}

const struct verb verb_logits = {"logits", cmd_logits,
                                 HELP_TEXT("write the raw output of a model for given token ids")};
