/* The manifest is written before the model gets its name, and names the model by its hash. A loss
 * of power between the two leaves the old model beside a manifest that does not fit it, which
 * `tandem models verify` says and the next build mends. */
#include "app/recipe/recipe_build.h"

#include "app/setup/model/model_identity.h"
#include "app/setup/model/model_manifest.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"

#include <errno.h>
#include <stdio.h>

struct sources {
    struct recipe_build *build;
    struct json *list;
};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct json *file_json(const struct recipe_file *file)
{
    struct json *object = json_new_object();
    json_put(object, "file", json_new_cstr(name_of(file->path)));
    json_put(object, "bytes", json_new_int((int64_t)file->bytes));
    json_put(object, "sha256", json_new_cstr(file->sha256));
    return object;
}

static enum td_status add_source(void *ctx, const char *path, struct td_error *err)
{
    struct sources *sources = ctx;
    const struct recipe_file *file;
    enum td_status status = recipe_state_hash(&sources->build->state, path, &file, err);
    if (status == TD_OK)
        json_push(sources->list, file_json(file));
    return status;
}

static enum td_status model_json(const struct recipe_build *build, const char *candidate,
                                 const struct recipe_file *file, struct json **out,
                                 struct td_error *err)
{
    struct td_model *model = NULL;
    struct td_model_options options = {0};
    struct confidence_binding identity;
    enum td_status status = td_model_open(candidate, &options, &model, err);
    if (status == TD_OK)
        status = model_identity_read(model, candidate, &identity, err);
    if (status == TD_OK) {
        const struct td_model_info *info = td_model_get_info(model);
        struct json *object = file_json(file);
        json_put(object, "file", json_new_cstr(name_of(build->output)));
        json_put(object, "name", json_new_cstr(identity.model));
        json_put(object, "architecture", json_new_cstr(info->architecture));
        json_put(object, "quantization", json_new_cstr(identity.quantization));
        json_put(object, "parameters", json_new_int((int64_t)info->parameter_count));
        json_put(object, "fingerprint", json_new_cstr(identity.fingerprint));
        json_put(object, "weights", json_new_cstr(identity.weights));
        json_put(object, "template", json_new_cstr(identity.template));
        json_put(object, "tokenizer", json_new_cstr(identity.tokenizer));
        *out = object;
    }
    td_model_close(model);
    return status;
}

/* Every gate of the recipe has passed, or there would be no manifest. */
static enum td_status add_gate(struct recipe_build *build, const char *name, const char *written,
                               struct json *list, struct td_error *err)
{
    const struct recipe_file *file;
    if (!written)
        return TD_OK;
    enum td_status status =
        recipe_state_hash(&build->state, recipe_path(&build->recipe, written), &file, err);
    if (status != TD_OK)
        return status;
    struct json *gate = json_new_object();
    json_put(gate, "gate", json_new_cstr(name));
    json_put(gate, "passed", json_new_bool(true));
    json_put(gate, "by", file_json(file));
    json_push(list, gate);
    return TD_OK;
}

static enum td_status make_body(struct recipe_build *build, const char *candidate,
                                const struct recipe_file *file, struct json **out,
                                struct td_error *err)
{
    const struct recipe *recipe = &build->recipe;
    struct sources sources = {build, json_new_array()};
    struct json *model = NULL, *gates = json_new_array();
    char now[25];
    clock_format_iso8601(clock_wall_ms(NULL), now);
    enum td_status status = recipe_each_file(build->source, add_source, &sources, err);
    if (status == TD_OK)
        status = model_json(build, candidate, file, &model, err);
    if (status == TD_OK)
        status = add_gate(build, "evaluate", recipe->evaluate.gate, gates, err);
    if (status == TD_OK)
        status = add_gate(build, "mistakes", recipe->mistakes.file, gates, err);
    struct json *body = json_new_object();
    json_put(body, "format", json_new_cstr(MODEL_MANIFEST_FORMAT));
    json_put(body, "version", json_new_int(1));
    json_put(body, "built", json_new_cstr(now));
    json_put(body, "program", json_new_cstr("tandem " TANDEM_VERSION));
    json_put(body, "recipe_sha256", json_new_cstr(recipe->sha256));
    json_put(body, "license", json_new_cstr(recipe->license));
    json_put(body, "teacher", json_new_cstr(recipe->teacher));
    json_put(body, "method", json_new_cstr(recipe->method));
    json_put(body, "model", model);
    json_put(body, "sources", sources.list);
    json_put(body, "steps", json_clone(build->steps));
    json_put(body, "gates", gates);
    if (status == TD_OK)
        *out = body;
    else
        json_free(body);
    return status;
}

/* A manifest of this very build, under the model's name. */
static bool is_up_to_date(const struct recipe_build *build, const struct recipe_file *file)
{
    struct model_manifest manifest;
    bool same = build->is_all_kept && strcmp(file->path, build->output) == 0 &&
                model_manifest_load(build->output, &manifest, NULL) == TD_OK;
    if (!same)
        return false;
    same = strcmp(manifest.sha256, file->sha256) == 0 && strcmp(manifest.key, build->key) == 0 &&
           str_equal(json_text(json_get(manifest.body, "recipe_sha256")),
                     str_from(build->recipe.sha256));
    model_manifest_deinit(&manifest);
    return same;
}

static enum td_status write_manifest(struct recipe_build *build, const struct json *body,
                                     struct td_error *err)
{
    char path[MODEL_MANIFEST_PATH_BYTES];
    struct buf text;
    buf_init(&text, MODEL_MANIFEST_BYTES_MAX);
    enum td_status status = model_manifest_path(build->output, path, err);
    if (status == TD_OK)
        status = model_manifest_sign(body, build->signer, build->key, &text, err);
    if (status == TD_OK)
        status = file_replace(path, buf_view(&text), 0644, err);
    buf_deinit(&text);
    return status;
}

enum td_status recipe_publish(struct recipe_build *build, const char *candidate, bool *is_new,
                              struct td_error *err)
{
    const struct recipe_file *file;
    struct json *body = NULL;
    *is_new = false;
    enum td_status status = recipe_state_hash(&build->state, candidate, &file, err);
    if (status != TD_OK || is_up_to_date(build, file))
        return status;
    status = make_body(build, candidate, file, &body, err);
    if (status == TD_OK)
        status = write_manifest(build, body, err);
    if (status == TD_OK && strcmp(candidate, build->output) != 0) {
        if (rename(candidate, build->output) != 0)
            status = error_set(err, TD_IO, "%s: %s", build->output, strerror(errno));
        file_sync_folder(build->output);
    }
    json_free(body);
    *is_new = status == TD_OK;
    return status;
}
