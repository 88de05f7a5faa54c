/* What can be known before the long work begins is looked at here. */
#include "app/recipe/recipe_build.h"

#include "app/cli/command.h"
#include "app/quality/quality_gate.h"
#include "app/setup/files/state_file.h"
#include "app/setup/policy/calibration_file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/gguf/gguf.h"
#include "ledger/record/ledger.h"
#include "quant/convert/safetensors.h"
#include "quant/encode/mix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Of a value of 4 bits in GPTQ and AWQ: how many an integer of 32 bits holds. */
#define PACKED_VALUES 8

static enum td_status check_file(struct recipe_build *build, const char *key, const char *written,
                                 struct td_error *err)
{
    struct stat what;
    if (!written)
        return TD_OK;
    const char *path = recipe_path(&build->recipe, written);
    if (!path)
        return error_set(err, TD_NO_MEMORY, "no memory");
    if (stat(path, &what) != 0 || !S_ISREG(what.st_mode) || access(path, R_OK) != 0)
        return error_set(err, TD_NOT_FOUND, "%s: %s: %s cannot be read as a file",
                         build->recipe.label, key, path);
    return what.st_size > 0
               ? TD_OK
               : error_set(err, TD_INVALID, "%s: %s: %s is empty", build->recipe.label, key, path);
}

static enum td_status check_files(struct recipe_build *build, struct td_error *err)
{
    const struct recipe *recipe = &build->recipe;
    const struct {
        const char *key, *written;
    } files[] = {
        {"imatrix.file", recipe->imatrix.file},
        {"quantize.text", recipe->quantize.text},
        {"evaluate.gate", recipe->evaluate.gate},
        {"evaluate.prompts", recipe->evaluate.prompts},
        {"mistakes.file", recipe->mistakes.file},
        {"calibrate.questions", recipe->calibrate.questions},
    };
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < sizeof files / sizeof *files; i++)
        status = check_file(build, files[i].key, files[i].written, err);
    for (size_t i = 0; status == TD_OK && i < recipe->imatrix.texts.count; i++)
        status = check_file(build, "imatrix.texts", recipe->imatrix.texts.items[i], err);
    for (size_t i = 0; status == TD_OK && i < recipe->evaluate.texts.count; i++)
        status = check_file(build, "evaluate.texts", recipe->evaluate.texts.items[i], err);
    return status;
}

static enum td_status check_gate(struct recipe_build *build, struct td_error *err)
{
    const struct recipe *recipe = &build->recipe;
    const struct quality_gate_means means = {
        .texts = recipe->evaluate.texts.count > 0,
        .prompts = recipe->evaluate.prompts || recipe->evaluate.traffic,
        .speed = recipe->evaluate.speed,
    };
    struct quality_gate gate;
    struct buf text = {0};
    const char *path = recipe_path(recipe, recipe->evaluate.gate);
    enum td_status status = command_read_all(path, &text, err);
    if (status == TD_OK)
        status = quality_gate_read(path, buf_view(&text), &means, &gate, err);
    buf_deinit(&text);
    return status;
}

/* Each line must be an object that asks something; the evaluation looks closer. */
static enum td_status check_prompts(struct recipe_build *build, const char *written,
                                    struct td_error *err)
{
    const char *path = recipe_path(&build->recipe, written);
    struct buf text = {0};
    if (!path)
        return TD_OK;
    enum td_status status = command_read_all(path, &text, err);
    struct td_str rest = buf_view(&text), line;
    for (size_t number = 1; status == TD_OK && str_next(&rest, '\n', &line); number++) {
        struct json *object = NULL;
        if (str_trim(line).len == 0)
            continue;
        status = json_parse(line, &object, err);
        if (status == TD_OK && !json_get(object, "prompt") && !json_get(object, "messages"))
            status = error_set(err, TD_INVALID, "it has neither prompt nor messages");
        error_prefix(err, "%s:%zu", path, number);
        json_free(object);
    }
    buf_deinit(&text);
    return status;
}

/* --- the source --- */

static enum td_status measure_folder(const char *folder, uint64_t *weights, struct td_error *err)
{
    struct safetensors *files = NULL;
    enum td_status status = safetensors_open(folder, &files, err);
    for (size_t i = 0; status == TD_OK && i < safetensors_count(files); i++) {
        const struct safetensor *tensor = safetensors_at(files, i);
        *weights += tensor->type == SAFE_I32 ? PACKED_VALUES * tensor->count : tensor->count;
    }
    safetensors_close(files);
    return status;
}

static enum td_status measure_file(const char *path, uint64_t *weights, struct td_error *err)
{
    struct gguf *gguf = NULL;
    struct td_model *model = NULL;
    struct td_model_options options = {0};
    enum td_status status = gguf_open(path, false, &gguf, err);
    for (size_t i = 0; status == TD_OK && i < gguf_tensor_count(gguf); i++) {
        const uint64_t *dims = gguf_tensor_at(gguf, i)->dims;
        *weights += dims[0] * dims[1] * dims[2] * dims[3];
    }
    gguf_close(gguf);
    if (status == TD_OK)
        status = td_model_open(path, &options, &model, err); /* an architecture that runs */
    td_model_close(model);
    return status;
}

static enum td_status check_source(struct recipe_build *build, uint64_t *weights,
                                   struct td_error *err)
{
    const struct recipe *recipe = &build->recipe;
    struct stat what;
    if (stat(build->source, &what) != 0)
        return error_set(err, TD_NOT_FOUND, "%s: source: %s: %s", recipe->label, build->source,
                         strerror(errno));
    build->is_folder = S_ISDIR(what.st_mode);
    if (build->is_folder)
        return measure_folder(build->source, weights, err);
    if (recipe->convert.there)
        return error_set(err, TD_INVALID,
                         "%s: convert: the source is a file; only a folder is converted",
                         recipe->label);
    char *from = realpath(build->source, NULL), *to = realpath(build->output, NULL);
    bool same = from && to && strcmp(from, to) == 0;
    free(from);
    free(to);
    return same ? error_set(err, TD_INVALID, "%s: output is the source itself", recipe->label)
                : measure_file(build->source, weights, err);
}

/* --- what is written --- */

static enum td_status check_output(struct recipe_build *build, struct td_error *err)
{
    struct stat what;
    if (stat(build->output, &what) == 0 && !S_ISREG(what.st_mode))
        return error_set(err, TD_INVALID, "%s: output: %s is no file", build->recipe.label,
                         build->output);
    if (mkdir(build->work, 0777) != 0 && errno != EEXIST)
        return error_set(err, TD_IO, "%s: output: cannot make %s: %s", build->recipe.label,
                         build->work, strerror(errno));
    if (access(build->work, W_OK | X_OK) != 0 || stat(build->work, &what) != 0 ||
        !S_ISDIR(what.st_mode))
        return error_set(err, TD_IO, "%s: output: cannot write into %s", build->recipe.label,
                         build->work);
    build->lock_fd = open(build->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (build->lock_fd > 0 && flock(build->lock_fd, LOCK_EX | LOCK_NB) != 0)
        return error_set(err, TD_BUSY, "another build works in %s", build->work);
    return TD_OK;
}

/* The fewest bytes that so many weights take: mixes give more bits to some. */
static double least_bytes(const char *type, uint64_t weights)
{
    const struct mix_model model = {.layer_count = 32, .group = 1};
    const struct tensor_traits *traits =
        tensor_traits_get(mix_type(mix_find(str_from(type)), &model, STR("blk.8.ffn_up.weight")));
    return traits ? (double)weights / traits->block_elements * traits->block_bytes : 0;
}

static enum td_status check_room(const struct recipe_build *build, uint64_t weights,
                                 struct td_error *err)
{
    struct statvfs disk;
    double needed = 0;
    if (build->is_folder && access(build->converted, F_OK) != 0)
        needed += least_bytes(build->recipe.convert.type, weights);
    if (access(build->quantized, F_OK) != 0)
        needed += least_bytes(build->recipe.quantize.type, weights);
    if (statvfs(build->work, &disk) != 0)
        return TD_OK;
    double room = (double)disk.f_bavail * (double)disk.f_frsize;
    return needed <= room
               ? TD_OK
               : error_set(err, TD_LIMIT,
                           "%s: %s has %.1f MB left, and the steps take at least %.1f MB",
                           build->recipe.label, build->work, room / 1e6, needed / 1e6);
}

static enum td_status check_calibration(const struct recipe_build *build, struct td_error *err)
{
    const struct confidence_binding any = {.model = ""};
    char path[CALIBRATION_PATH_BYTES];
    if (!build->recipe.calibrate.there)
        return TD_OK;
    enum td_status status = calibration_file_path(build->config->state_dir, &any, path, err);
    return status == TD_OK ? calibration_file_check(path, err) : status;
}

static enum td_status open_key(struct recipe_build *build, struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    struct sign_key_place place = {recipe_path(&build->recipe, build->recipe.sign.key),
                                   "the signing key", "put it back, or move the folder away"};
    if (!place.folder) {
        enum td_status status = state_file_path(build->config, "signing/key", path, err);
        if (status != TD_OK)
            return status;
        *strrchr(path, '/') = '\0';
        place.folder = path;
    }
    return sign_key_open(&place, true, &build->signer, build->key, err);
}

static enum td_status check_traffic(const struct recipe_build *build, struct td_error *err)
{
    struct ledger_reader *reader = NULL;
    if (!build->recipe.evaluate.traffic && !build->recipe.imatrix.traffic)
        return TD_OK;
    enum td_status status = command_open_ledger(build->config, &reader, err);
    ledger_reader_close(reader);
    return status;
}

/* --- all --- */

static enum td_status name_files(struct recipe_build *build, struct td_error *err)
{
    const struct recipe *recipe = &build->recipe;
    struct arena *arena = recipe->arena;
    build->source = recipe_path(recipe, recipe->source);
    build->output = recipe_path(recipe, recipe->output);
    build->work = arena_printf(arena, "%s.build", build->output);
    build->converted = arena_printf(arena, "%s/converted.gguf", build->work);
    build->quantized = arena_printf(arena, "%s/quantized.gguf", build->work);
    if (recipe->imatrix.file)
        build->importance = recipe_path(recipe, recipe->imatrix.file);
    else if (recipe->imatrix.there)
        build->importance = arena_printf(arena, "%s/imatrix.gguf", build->work);
    bool ok = build->source && build->output && build->work && build->converted &&
              build->quantized && (build->importance || !recipe->imatrix.there);
    return ok ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory");
}

static enum td_status read_recipe(struct recipe_build *build, const char *path,
                                  struct td_error *err)
{
    struct buf text = {0};
    enum td_status status = command_read_all(path, &text, err);
    if (status == TD_OK)
        status = recipe_read(path, buf_view(&text), &build->recipe, err);
    buf_deinit(&text);
    return status == TD_OK ? name_files(build, err) : status;
}

enum td_status recipe_check(struct recipe_build *build, const char *path, struct td_error *err)
{
    uint64_t weights = 0;
    enum td_status status = read_recipe(build, path, err);
    if (status == TD_OK)
        status = config_load(build->config_path, &build->config, err);
    if (status == TD_OK)
        status = check_source(build, &weights, err);
    if (status == TD_OK)
        status = check_files(build, err);
    if (status == TD_OK)
        status = check_gate(build, err);
    if (status == TD_OK)
        status = check_prompts(build, build->recipe.evaluate.prompts, err);
    if (status == TD_OK)
        status = check_prompts(build, build->recipe.mistakes.file, err);
    if (status == TD_OK)
        status = check_traffic(build, err);
    if (status == TD_OK)
        status = check_output(build, err);
    if (status == TD_OK)
        status = check_room(build, weights, err);
    if (status == TD_OK)
        status = check_calibration(build, err);
    return status == TD_OK ? open_key(build, err) : status;
}
