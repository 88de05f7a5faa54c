#include "app/command.h"
#include "app/options.h"
#include "base/error.h"
#include "base/str.h"

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

static enum td_status write_logits(struct td_session *session, const int32_t *ids, size_t count,
                                   size_t first_row, size_t vocab, FILE *out, struct td_error *err)
{
    float *rows = calloc(ROWS_AT_ONCE * vocab, sizeof *rows);
    if (!rows)
        return error_set(err, TD_NO_MEMORY, "no memory for %d rows of %zu logits", ROWS_AT_ONCE,
                         vocab);
    enum td_status status = TD_OK;
    if (first_row > 0)
        status = td_session_forward(session, ids, first_row, NULL, 0, err);
    for (size_t at = first_row; at < count && status == TD_OK; at += ROWS_AT_ONCE) {
        size_t rows_now = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        status = td_session_forward(session, ids + at, rows_now, rows, rows_now, err);
        if (status == TD_OK && fwrite(rows, vocab * sizeof *rows, rows_now, out) != rows_now)
            status = error_set(err, TD_IO, "cannot write the logits: %s", strerror(errno));
    }
    free(rows);
    return status;
}

static enum td_status run(const char *model_path, const char *id_text, const char *id_file,
                          uint32_t last, const char *out_path, uint32_t threads, enum td_cpu cpu,
                          struct td_error *err)
{
    struct td_model *model = NULL;
    struct td_session *session = NULL;
    struct buf input = {0};
    int32_t *ids = NULL;
    size_t count = 0;
    FILE *out = NULL;
    enum td_status status = command_open_model(model_path, cpu, false, &model, err);
    if (status == TD_OK && !id_text)
        status = command_read_all(id_file, &input, err);
    if (status == TD_OK)
        status =
            command_parse_ids(id_text ? str_from(id_text) : buf_view(&input), &ids, &count, err);
    if (status == TD_OK && (count == 0 || count > UINT32_MAX))
        status = error_set(err, TD_INVALID, "there are no token ids");
    /* The context of a session decides between rope factors: not to depend on the count, it is the
     * default one as long as the ids fit. */
    struct td_session_options options = {.context_tokens =
                                             count > CONTEXT_DEFAULT ? (uint32_t)count : 0,
                                         .thread_count = threads,
                                         .kv_type = TD_KV_F32};
    if (status == TD_OK)
        status = td_session_new(model, &options, &session, err);
    if (status == TD_OK && !(out = fopen(out_path, "wbe")))
        status = error_set(err, TD_IO, "%s: %s", out_path, strerror(errno));
    if (status == TD_OK)
        status = write_logits(session, ids, count, last && last < count ? count - last : 0,
                              td_model_get_info(model)->vocab_count, out, err);
    if (out && fclose(out) != 0 && status == TD_OK)
        status = error_set(err, TD_IO, "%s: %s", out_path, strerror(errno));
    free(ids);
    buf_deinit(&input);
    td_session_free(session);
    td_model_close(model);
    return status;
}

int cmd_logits(int argc, char **argv)
{
    const char *model_path = NULL, *ids = NULL, *ids_file = NULL, *out = NULL;
    uint32_t last = 0, threads = 0;
    bool json = false;
    enum td_cpu cpu = TD_CPU_AUTO;
    const struct option options[] = {
        OPTION_ROW_MODEL(model_path),
        {"ids", 0, OPTION_TEXT, &ids, "1,2,3", "token ids; default: standard input", 0, 0},
        {"ids-file", 0, OPTION_TEXT, &ids_file, "FILE", "token ids from a file", 0, 0},
        {"last", 0, OPTION_UINT, &last, "N", "only the last N positions", 1, 1e9},
        {"output", 'o', OPTION_TEXT, &out, "FILE", "where the logits go", 0, 0},
        OPTION_ROW_THREADS(threads),
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        "logits",
        "",
        "Runs token ids through the model (KV cache in float32) and writes the logits of each\n"
        "position: little-endian float32, [positions, vocabulary], no header.",
        options,
        sizeof options / sizeof *options,
        0};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    if (!out) {
        fprintf(stderr, "tandem logits: -o FILE is missing\nTry 'tandem logits --help'.\n");
        return 2;
    }
    struct td_error err = {0};
    if (run(model_path, ids, ids_file, last, out, threads, cpu, &err) != TD_OK)
        return command_fail("logits", &err);
    return json ? !command_print(STR("{\"written\":true}\n")) : 0;
}
