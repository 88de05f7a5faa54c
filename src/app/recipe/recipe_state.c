/* Files are hashed whole, also those of gigabytes: a time of change says nothing after a copy, and
 * hashing takes seconds where a step takes minutes. */
#include "app/recipe/recipe_state.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "engine/gguf/gguf_split.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_BYTES_MAX ((size_t)4 << 20)
#define FILES_MAX 4096
#define BLOCK_BYTES ((size_t)1 << 20)
#define PATH_BYTES 4400

enum td_status recipe_state_open(struct recipe_state *state, const char *path,
                                 const volatile sig_atomic_t *interrupted, struct td_error *err)
{
    struct buf text;
    *state = (struct recipe_state){.path = path, .interrupted = interrupted};
    buf_init(&text, STATE_BYTES_MAX);
    if (buf_read_file(&text, path, NULL) != TD_OK ||
        json_parse(buf_view(&text), &state->steps, NULL) != TD_OK ||
        json_kind_of(state->steps) != JSON_KIND_OBJECT) {
        json_free(state->steps);
        state->steps = json_new_object();
    }
    buf_deinit(&text);
    return state->steps ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for %s", path);
}

void recipe_state_deinit(struct recipe_state *state)
{
    json_free(state->steps);
    for (size_t i = 0; i < state->file_count; i++)
        free(state->files[i].path);
    free(state->files);
    *state = (struct recipe_state){0};
}

/* --- hashing --- */

static enum td_status hash_file(const struct recipe_state *state, struct recipe_file *file,
                                struct td_error *err)
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    struct crypto_sha256 *hash = NULL;
    unsigned char *block = NULL;
    int fd = -1;
    ssize_t got = 1;
    enum td_status status = file_open_regular(file->path, 0, &fd, &file->bytes, err);
    if (status != TD_OK)
        return status;
    hash = crypto_sha256_begin();
    block = malloc(BLOCK_BYTES);
    if (!hash || !block)
        status = error_set(err, TD_NO_MEMORY, "no memory to read %s", file->path);
    while (status == TD_OK && got > 0) {
        got = read(fd, block, BLOCK_BYTES);
        if (got < 0)
            status = error_set(err, TD_IO, "%s: %s", file->path, strerror(errno));
        else if (*state->interrupted)
            status = error_set(err, TD_CANCELLED, "interrupted");
        else
            crypto_sha256_feed(hash, block, (size_t)got);
    }
    if (hash)
        crypto_sha256_end(hash, digest);
    if (status == TD_OK)
        crypto_hex(digest, sizeof digest, file->sha256);
    free(block);
    close(fd);
    return status;
}

static struct recipe_file *find_file(const struct recipe_state *state, const char *path)
{
    for (size_t i = 0; i < state->file_count; i++)
        if (strcmp(state->files[i].path, path) == 0)
            return &state->files[i];
    return NULL;
}

enum td_status recipe_state_hash(struct recipe_state *state, const char *path,
                                 const struct recipe_file **out, struct td_error *err)
{
    struct recipe_file *file = find_file(state, path);
    *out = file;
    if (file)
        return TD_OK;
    if (!state->files && !(state->files = calloc(FILES_MAX, sizeof *state->files)))
        return error_set(err, TD_NO_MEMORY, "no memory for hashes");
    if (state->file_count == FILES_MAX)
        return error_set(err, TD_LIMIT, "the recipe reads more than %d files", FILES_MAX);
    file = &state->files[state->file_count];
    *file = (struct recipe_file){.path = strdup(path)};
    enum td_status status = file->path ? hash_file(state, file, err)
                                       : error_set(err, TD_NO_MEMORY, "no memory for hashes");
    if (status != TD_OK) {
        free(file->path);
        return status;
    }
    state->file_count++;
    *out = file;
    return TD_OK;
}

/* Its place stays, for pointers to others; no path is empty. */
static void forget_hash(struct recipe_state *state, const char *path)
{
    struct recipe_file *file = find_file(state, path);
    if (file)
        *file->path = '\0';
}

/* --- files of an input --- */

static int is_of_model(const struct dirent *entry)
{
    static const char *const endings[] = {".safetensors", ".json", ".jinja", ".model"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends_with(str_from(entry->d_name), str_from(endings[i])))
            return 1;
    return 0;
}

static enum td_status each_of_folder(const char *folder, recipe_file_fn *visit, void *ctx,
                                     struct td_error *err)
{
    struct dirent **entries = NULL;
    char path[PATH_BYTES];
    int count = scandir(folder, &entries, is_of_model, alphasort);
    if (count < 0)
        return error_set(err, TD_IO, "%s: %s", folder, strerror(errno));
    enum td_status status = TD_OK;
    for (int i = 0; i < count; i++) {
        if (status == TD_OK)
            status = path_join(path, sizeof path, folder, entries[i]->d_name, err);
        if (status == TD_OK)
            status = visit(ctx, path, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

enum td_status recipe_each_file(const char *input, recipe_file_fn *visit, void *ctx,
                                struct td_error *err)
{
    char path[PATH_BYTES];
    struct stat what;
    struct gguf_part_name part;
    if (stat(input, &what) != 0)
        return error_set(err, TD_NOT_FOUND, "%s: %s", input, strerror(errno));
    if (S_ISDIR(what.st_mode))
        return each_of_folder(input, visit, ctx, err);
    if (!gguf_part_parse(input, &part))
        return visit(ctx, input, err);
    enum td_status status = TD_OK;
    for (uint32_t i = 1; status == TD_OK && i <= part.count; i++)
        status = gguf_part_format(path, sizeof path, input, &part, i)
                     ? visit(ctx, path, err)
                     : error_set(err, TD_INVALID, "%.200s: the path is too long", input);
    return status;
}

/* --- keys --- */

struct keying {
    struct recipe_state *state;
    struct crypto_sha256 *hash;
};

static void feed(struct crypto_sha256 *hash, const char *text)
{
    crypto_sha256_feed(hash, text, strlen(text) + 1);
}

static enum td_status feed_file(void *ctx, const char *path, struct td_error *err)
{
    struct keying *keying = ctx;
    const struct recipe_file *file;
    enum td_status status = recipe_state_hash(keying->state, path, &file, err);
    if (status == TD_OK)
        feed(keying->hash, file->sha256);
    return status;
}

enum td_status recipe_state_key(struct recipe_state *state, const struct recipe_step *step,
                                char out[static RECIPE_DIGEST_BYTES], struct td_error *err)
{
    struct keying keying = {state, crypto_sha256_begin()};
    uint8_t digest[CRYPTO_SHA256_BYTES];
    struct buf settings;
    if (!keying.hash)
        return error_set(err, TD_NO_MEMORY, "no memory for hashes");
    buf_init(&settings, STATE_BYTES_MAX);
    json_write(step->settings, &settings);
    enum td_status status =
        settings.failed ? error_set(err, TD_LIMIT, "the settings are too long") : TD_OK;
    feed(keying.hash, TANDEM_VERSION);
    feed(keying.hash, step->name);
    crypto_sha256_feed(keying.hash, settings.data, settings.len);
    for (size_t i = 0; status == TD_OK && i < step->input_count; i++)
        status = recipe_each_file(step->inputs[i], feed_file, &keying, err);
    crypto_sha256_end(keying.hash, digest);
    crypto_hex(digest, sizeof digest, out);
    buf_deinit(&settings);
    return status;
}

const struct json *recipe_state_find(struct recipe_state *state, const struct recipe_step *step,
                                     const char *key)
{
    const struct json *record = json_get(state->steps, step->name);
    const struct recipe_file *file;
    if (step->is_volatile || !str_equal(json_text(json_get(record, "key")), str_from(key)))
        return NULL;
    if (step->output && (recipe_state_hash(state, step->output, &file, NULL) != TD_OK ||
                         !str_equal(json_text(json_get(record, "sha256")), str_from(file->sha256))))
        return NULL;
    return record;
}

enum td_status recipe_state_put(struct recipe_state *state, const struct recipe_step *step,
                                const char *key, double seconds, struct json *result,
                                struct td_error *err)
{
    struct json *record = json_new_object();
    const struct recipe_file *file;
    struct buf text;
    enum td_status status = TD_OK;
    json_put(record, "key", json_new_cstr(key));
    json_put(record, "seconds", json_new_double(seconds));
    if (step->output) {
        forget_hash(state, step->output);
        status = recipe_state_hash(state, step->output, &file, err);
        if (status == TD_OK) {
            json_put(record, "sha256", json_new_cstr(file->sha256));
            json_put(record, "bytes", json_new_int((int64_t)file->bytes));
        }
    }
    json_put(record, "result", result);
    json_put(state->steps, step->name, record);
    buf_init(&text, STATE_BYTES_MAX);
    json_write(state->steps, &text);
    if (status == TD_OK)
        status = text.failed ? error_set(err, TD_LIMIT, "%s would be too large", state->path)
                             : file_replace(state->path, buf_view(&text), 0644, err);
    buf_deinit(&text);
    return status;
}
