/* What every verb needs: its input as a file or standard input, its output whole or not at all,
 * and one form for failures. Exit codes are made here and in the verbs, nowhere below. */
#include "app/cli/command.h"

#include "app/config/config.h"
#include "app/setup/model/model_file.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/terminal/terminal.h"
#include "app/terminal/word_wrap.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "ledger/record/ledger.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Standard input and files of the text commands. */
#define INPUT_BYTES_MAX (256u << 20)
#define OUTPUT_BYTES_MAX (1u << 30)

void command_print_harmless(FILE *out, struct td_str text)
{
    for (size_t at = 0, begin = 0; at < text.len; begin = at) {
        uint32_t c = utf8_next(text, &at);
        bool steers = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0);
        struct td_str shown =
            steers || c == 0xFFFD ? STR("\xEF\xBF\xBD") : str_slice(text, begin, at);
        fwrite(shown.data, 1, shown.len, out);
    }
}

static struct {
    FILE *terminal;
    char *text;
    size_t size;
} held;

/* What cannot be made harmless is not shown. */
static void require_memory(bool there)
{
    if (there)
        return;
    fputs("tandem: no memory for what would be printed\n", stderr);
    exit(1);
}

/* glibc lets stdout be another stream for the while. */
void command_harmless_begin(void)
{
    FILE *memory = open_memstream(&held.text, &held.size);
    require_memory(memory != NULL);
    held.terminal = stdout;
    stdout = memory;
}

bool command_harmless_end(bool wraps)
{
    bool whole = fclose(stdout) == 0;
    stdout = held.terminal;
    require_memory(whole);
    unsigned columns = wraps ? terminal_columns(STDOUT_FILENO) : 0;
    const struct td_str text = {held.text, held.size};
    if (columns)
        word_wrap_print(stdout, columns, text);
    else
        command_print_harmless(stdout, text);
    free(held.text);
    return fflush(stdout) == 0;
}

int command_fail(const char *verb, const struct td_error *err)
{
    fflush(stdout);
    fprintf(stderr, "tandem %s: ", verb);
    command_print_harmless(stderr,
                           str_from(*err->message ? err->message : td_status_name(err->status)));
    fputc('\n', stderr);
    return 1;
}

int command_fail_as(const char *verb, const struct td_error *err, bool json)
{
    if (!json)
        return command_fail(verb, err);
    struct json *report = json_new_object();
    json_put(report, "ok", json_new_bool(false));
    json_put(report, "error", json_new_cstr(err->message));
    command_print_json(report);
    return 1;
}

enum td_status command_open_model(const char *path, enum td_cpu cpu, bool vocab_only,
                                  struct td_model **out, struct td_error *err)
{
    char found[4096];
    enum td_status status = model_file_find(path, NULL, found, sizeof found, err);
    if (status != TD_OK)
        return status;
    struct td_model_options options = {.vocab_only = vocab_only, .cpu = cpu};
    return td_model_open(found, &options, out, err);
}

enum td_status command_read_all(const char *path, struct buf *out, struct td_error *err)
{
    buf_init(out, INPUT_BYTES_MAX);
    return buf_read_file(out, path && strcmp(path, "-") == 0 ? NULL : path, err);
}

enum td_status command_tokenize(const struct td_model *model, struct td_str text, bool add_bos,
                                bool parse_special, int32_t **ids, size_t *count,
                                struct td_error *err)
{
    /* Never more tokens than bytes, except BOS and the leading space of SentencePiece. */
    size_t capacity = text.len + 16;
    for (int attempt = 0; attempt < 2; attempt++) {
        struct td_error first = {0};
        *ids = calloc(capacity, sizeof **ids);
        if (!*ids)
            return error_set(err, TD_NO_MEMORY, "no memory for %zu tokens", capacity);
        enum td_status status =
            td_tokenize(model, text, add_bos, parse_special, *ids, capacity, count, &first);
        if (status == TD_OK)
            return TD_OK;
        free(*ids);
        *ids = NULL;
        if (status != TD_LIMIT || *count <= capacity)
            return error_set(err, status, "%s", first.message);
        capacity = *count;
    }
    return error_set(err, TD_INTERNAL,
                     "the tokenizer gave different counts of tokens for one text");
}

enum td_status command_parse_ids(struct td_str text, int32_t **ids, size_t *count,
                                 struct td_error *err)
{
    size_t capacity = text.len / 2 + 1, used = 0, at = 0;
    *ids = calloc(capacity, sizeof **ids);
    if (!*ids)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu ids", capacity);
    while (at < text.len) {
        char c = text.data[at];
        if (c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' || c == '[' || c == ']') {
            at++;
            continue;
        }
        size_t end = at;
        while (end < text.len && ascii_is_digit(text.data[end]))
            end++;
        uint64_t id;
        if (!str_to_u64(str_slice(text, at, end), &id) || id > INT32_MAX || used == capacity) {
            free(*ids);
            *ids = NULL;
            return error_set(err, TD_INVALID, "byte %zu of the ids is not part of a token id", at);
        }
        (*ids)[used++] = (int32_t)id;
        at = end;
    }
    *count = used;
    return TD_OK;
}

bool command_take_ids(void *ctx, const char *text)
{
    int32_t *ids = NULL;
    size_t count;
    if (command_parse_ids(str_from(text), &ids, &count, NULL) != TD_OK)
        return false;
    free(ids);
    *(const char **)ctx = text;
    return true;
}

enum td_status command_open_ledger(const struct config *config, struct ledger_reader **out,
                                   struct td_error *err)
{
    const char *path = config->ledger.path;
    *out = NULL;
    if (ledger_is_file(path) && access(path, F_OK) != 0)
        return error_set(err, TD_NOT_FOUND, "nothing has been recorded yet: there is no ledger %s",
                         path);
    enum td_status status = installation_key_for_texts(config, false, err);
    return status == TD_OK ? ledger_reader_open(path, out, err) : status;
}

bool command_print(struct td_str text)
{
    bool ok = text.len == 0 || fwrite(text.data, 1, text.len, stdout) == text.len;
    return fflush(stdout) == 0 && ok;
}

enum td_status command_spare_inputs(const char *out, const char *const *inputs, size_t count,
                                    struct td_error *err)
{
    char *to = realpath(out, NULL);
    bool same = false;
    for (size_t i = 0; to && !same && i < count; i++) {
        char *from = inputs[i] ? realpath(inputs[i], NULL) : NULL;
        same = from && str_equal(str_from(from), str_from(to));
        free(from);
    }
    free(to);
    return same ? error_set(err, TD_INVALID, "%s is read itself: name another file to write", out)
                : TD_OK;
}

enum td_status command_spare_folder(const char *out, const char *folder, struct td_error *err)
{
    enum td_status status = TD_OK;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && status == TD_OK && (entry = readdir(dir)) != NULL;) {
        char path[PATH_MAX];
        const char *input = path;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path &&
            !str_ends_with(str_from(path), STR(".gguf")))
            status = command_spare_inputs(out, &input, 1, err);
    }
    if (dir)
        closedir(dir);
    return status;
}

bool command_print_json(struct json *value)
{
    struct buf out;
    buf_init(&out, OUTPUT_BYTES_MAX);
    json_write(value, &out);
    buf_append_char(&out, '\n');
    bool ok = !out.failed && command_print(buf_view(&out));
    buf_deinit(&out);
    json_free(value);
    return ok;
}
