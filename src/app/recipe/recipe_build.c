#include "app/recipe/recipe_build.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* What a step's result keeps of what it printed. An evaluation's groups are not kept: their names
 * are words of people's prompts, and a manifest travels with its model. */
static const char *const kept[] = {
    "architecture",
    "type",
    "tensors",
    "weights",
    "source_bytes",
    "file_bytes",
    "memory_bytes",
    "dequantized_from",
    "requantized_from",
    "mended_weights",
    "bits_per_weight",
    "unweighed_tensors",
    "scaled_groups",
    "scaling_kld_plain",
    "scaling_kld",
    "matrices",
    "tokens",
    "chunks",
    "chunk_tokens",
    "perplexity",
    "kld",
    "kld_error",
    "kld_p99",
    "same_top",
    "kld_expected",
    "context_tokens",
    "prefill_tokens_per_s",
    "decode_tokens_per_s",
    "right",
    "texts",
    "questions",
    "held_out",
    "risks",
    "auroc",
    "prompts",
    "repeated",
    "share",
    "file",
};
static const char *const kept_of_answers[] = {
    "tokens",  "kld",   "kld_error", "kld_p99",   "kld_max",    "same_top",
    "prompts", "flips", "share",     "share_low", "share_high", "lost",
};

static struct json *pick(const struct json *from, const char *const *names, size_t count)
{
    struct json *object = json_new_object();
    for (size_t i = 0; i < count; i++)
        if (!json_absent(json_get(from, names[i])))
            json_put(object, names[i], json_clone(json_get(from, names[i])));
    return object;
}
#define PICK(from, names) pick(from, names, sizeof(names) / sizeof *(names))

/* --- the steps --- */

static const char *option_number(const struct recipe *recipe, double value)
{
    return arena_printf(recipe->arena, "%.9g", value);
}

static void set_threads(const struct recipe_build *build, struct recipe_step *step)
{
    if (build->threads) {
        recipe_step_say(step, "--threads");
        recipe_step_say(step, arena_printf(build->recipe.arena, "%u", build->threads));
    }
    recipe_step_say(step, "--json");
}

static void set_text(struct recipe_step *step, const char *option, const char *value)
{
    if (value)
        recipe_step_set(step, option, value);
}

/* The ledger changes with each exchange, so what reads it is always done. */
static void set_traffic(struct recipe_step *step, const char *since, const char *tenant,
                        const char *route)
{
    recipe_step_set(step, "--traffic", NULL);
    set_text(step, "--since", since);
    set_text(step, "--tenant", tenant);
    set_text(step, "--route", route);
    step->is_volatile = true;
}

static void set_config(const struct recipe_build *build, struct recipe_step *step)
{
    if (build->config_path) {
        recipe_step_say(step, "--config");
        recipe_step_say(step, build->config_path);
    }
}

static void read_texts(const struct recipe *recipe, struct recipe_step *step, const char *option,
                       const struct config_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        recipe_step_read(step, option, recipe_path(recipe, texts->items[i]), texts->items[i]);
}

static void read_file(const struct recipe *recipe, struct recipe_step *step, const char *option,
                      const char *written)
{
    if (written)
        recipe_step_read(step, option, recipe_path(recipe, written), written);
}

/* The model that is quantised, and how the recipe calls it. */
static const char *original(const struct recipe_build *build)
{
    return build->is_folder ? build->converted : build->source;
}

static const char *original_name(const struct recipe_build *build)
{
    return build->is_folder ? "converted.gguf" : build->recipe.source;
}

static void make_convert(const struct recipe_build *build, struct recipe_step *step)
{
    const struct recipe *recipe = &build->recipe;
    recipe_step_begin(step, "convert", build->verbs.convert);
    step->failed = RECIPE_NO_CONVERT;
    recipe_step_read(step, NULL, build->source, recipe->source);
    recipe_step_say(step, build->converted);
    recipe_step_set(step, "--type", recipe->convert.type);
    set_text(step, "--name", recipe->name);
    set_text(step, "--license", recipe->license);
    set_text(step, "--teacher", recipe->teacher);
    set_text(step, "--method", recipe->method);
    if (recipe->convert.force)
        recipe_step_set(step, "--force", NULL);
    set_threads(build, step);
    step->output = build->converted;
}

static void make_imatrix(const struct recipe_build *build, struct recipe_step *step)
{
    const struct recipe *recipe = &build->recipe;
    recipe_step_begin(step, "imatrix", build->verbs.imatrix);
    step->failed = RECIPE_NO_IMATRIX;
    recipe_step_read(step, NULL, original(build), original_name(build));
    read_texts(recipe, step, NULL, &recipe->imatrix.texts);
    if (recipe->imatrix.traffic) {
        set_traffic(step, recipe->imatrix.since, recipe->imatrix.tenant, recipe->imatrix.route);
        set_config(build, step);
    }
    if (recipe->imatrix.context)
        recipe_step_set_count(step, recipe, "--context", recipe->imatrix.context);
    if (recipe->imatrix.chunks)
        recipe_step_set_count(step, recipe, "--chunks", recipe->imatrix.chunks);
    recipe_step_say(step, "-o");
    recipe_step_say(step, build->importance);
    set_threads(build, step);
    step->output = build->importance;
}

static void make_quantize(const struct recipe_build *build, struct recipe_step *step)
{
    const struct recipe *recipe = &build->recipe;
    recipe_step_begin(step, "quantize", build->verbs.quantize);
    step->failed = RECIPE_NO_QUANTIZE;
    recipe_step_read(step, NULL, original(build), original_name(build));
    recipe_step_say(step, build->quantized);
    recipe_step_set(step, recipe->quantize.type, NULL);
    if (build->importance)
        recipe_step_read(step, "--imatrix", build->importance,
                         recipe->imatrix.file ? recipe->imatrix.file : "imatrix.gguf");
    read_file(recipe, step, "--text", recipe->quantize.text);
    if (recipe->quantize.text)
        recipe_step_set_count(step, recipe, "--tokens", recipe->quantize.tokens);
    if (recipe->quantize.scale)
        recipe_step_set(step, "--scale", NULL);
    set_text(step, "--target-size", recipe->quantize.target_size);
    if (!isnan(recipe->quantize.max_kld))
        recipe_step_set(step, "--max-kld", option_number(recipe, recipe->quantize.max_kld));
    if (recipe->quantize.force)
        recipe_step_set(step, "--force", NULL);
    set_threads(build, step);
    step->output = build->quantized;
}

static void make_evaluate(const struct recipe_build *build, const char *candidate,
                          struct recipe_step *step)
{
    const struct recipe *recipe = &build->recipe;
    recipe_step_begin(step, "evaluate", build->verbs.evaluate);
    step->failed = RECIPE_NO_EVALUATE;
    step->refused = RECIPE_REFUSED;
    recipe_step_read(step, NULL, original(build), original_name(build));
    recipe_step_read(step, NULL, candidate, "quantized.gguf");
    read_file(recipe, step, "--gate", recipe->evaluate.gate);
    read_texts(recipe, step, "--text", &recipe->evaluate.texts);
    read_file(recipe, step, "--prompts", recipe->evaluate.prompts);
    if (recipe->evaluate.traffic)
        set_traffic(step, recipe->evaluate.since, recipe->evaluate.tenant, recipe->evaluate.route);
    if (!recipe->evaluate.speed)
        recipe_step_set(step, "--no-speed", NULL);
    recipe_step_set_count(step, recipe, "--tokens", recipe->evaluate.tokens);
    recipe_step_set_count(step, recipe, "--max-prompts", recipe->evaluate.prompts_max);
    set_config(build, step);
    set_threads(build, step);
}

static void make_mistakes(const struct recipe_build *build, const char *candidate,
                          struct recipe_step *step)
{
    const struct recipe *recipe = &build->recipe;
    recipe_step_begin(step, "mistakes", build->verbs.mistakes);
    step->failed = RECIPE_NO_MISTAKES;
    step->refused = RECIPE_REPEATS;
    recipe_step_read(step, NULL, candidate, "quantized.gguf");
    read_file(recipe, step, NULL, recipe->mistakes.file);
    recipe_step_set(step, "--max-share", option_number(recipe, recipe->mistakes.max_share));
    recipe_step_set_count(step, recipe, "--tokens", recipe->mistakes.tokens);
    set_threads(build, step);
}

static void make_calibrate(const struct recipe_build *build, const char *candidate,
                           struct recipe_step *step)
{
    const struct recipe *recipe = &build->recipe;
    recipe_step_begin(step, "calibrate", build->verbs.calibrate);
    step->failed = RECIPE_NO_CALIBRATE;
    read_file(recipe, step, NULL, recipe->calibrate.questions);
    recipe_step_read(step, "--model", candidate, "quantized.gguf");
    recipe_step_set_count(step, recipe, "--tokens", recipe->calibrate.tokens);
    set_config(build, step);
    set_threads(build, step);
}

/* --- doing them --- */

static void say(const struct recipe_build *build, const char *step, const char *what)
{
    if (!build->json) {
        printf("%-10s %s\n", step, what);
        fflush(stdout);
    }
}

/* For the manifest. */
static void note_step(struct recipe_build *build, const struct recipe_step *step,
                      const struct json *record)
{
    struct json *object = json_new_object();
    json_put(object, "step", json_new_cstr(step->name));
    json_put(object, "settings", json_clone(step->settings));
    json_put(object, "seconds", json_clone(json_get(record, "seconds")));
    json_put(object, "result", json_clone(json_get(record, "result")));
    json_push(build->steps, object);
}

static const struct json *candidate_of(const struct json *result)
{
    return json_at(json_get(result, "candidates"), 0);
}

static struct json *result_of(const struct json *printed)
{
    const struct json *candidate = candidate_of(printed);
    if (!candidate)
        return PICK(printed, kept);
    struct json *result = PICK(candidate, kept);
    if (json_get(candidate, "answers"))
        json_put(result, "answers", PICK(json_get(candidate, "answers"), kept_of_answers));
    return result;
}

/* Why a gate refused. */
static const struct json *reasons_of(const struct json *printed)
{
    const struct json *candidate = candidate_of(printed);
    return json_get(candidate ? candidate : printed, "reasons");
}

static enum td_status refuse(const struct recipe_step *step, const struct json *printed,
                             struct td_error *err)
{
    const struct json *reasons = reasons_of(printed);
    for (size_t i = 0; i < json_count(reasons); i++)
        fprintf(stderr, "%s: refused: %s\n", step->name, json_cstr(json_at(reasons, i)));
    return error_set(err, TD_DENIED, "the gate refused the model: " STR_FMT,
                     STR_ARG(json_text(json_at(reasons, 0))));
}

static bool has_calibration(const struct json *record)
{
    const char *file = json_cstr(json_get(json_get(record, "result"), "file"));
    return !file || access(file, R_OK) == 0;
}

static enum td_status run_step(struct recipe_build *build, const struct recipe_step *step,
                               const char *key, enum recipe_end *end, struct td_error *err)
{
    char words[80];
    struct recipe_step_end how;
    double begin_ms = clock_monotonic_ms(NULL);
    enum td_status status = recipe_step_run(step, build->interrupted, &how, err);
    double seconds = (clock_monotonic_ms(NULL) - begin_ms) / 1000;
    if (status == TD_CANCELLED)
        *end = RECIPE_FAILED;
    if (status == TD_OK && how.code == RECIPE_REFUSED && step->refused &&
        json_count(reasons_of(how.result))) {
        *end = (enum recipe_end)step->refused;
        status = refuse(step, how.result, err);
    } else if (status == TD_OK && (how.code != 0 || !how.result)) {
        status =
            error_set(err, TD_INTERNAL, "the step '%s' failed; what it said is above", step->name);
    }
    if (status == TD_OK)
        status = recipe_state_put(&build->state, step, key, seconds, result_of(how.result), err);
    snprintf(words, sizeof words, "done in %.1f s", seconds);
    if (status == TD_OK)
        say(build, step->name, words);
    json_free(how.result);
    return status;
}

/* **takes** the step. */
static enum td_status do_step(struct recipe_build *build, struct recipe_step *step,
                              enum recipe_end *end, struct td_error *err)
{
    char key[RECIPE_DIGEST_BYTES];
    *end = (enum recipe_end)step->failed;
    enum td_status status = recipe_state_key(&build->state, step, key, err);
    const struct json *record =
        status == TD_OK ? recipe_state_find(&build->state, step, key) : NULL;
    if (record && !has_calibration(record))
        record = NULL;
    if (record) {
        say(build, step->name, "kept: nothing that it reads has changed");
    } else if (status == TD_OK) {
        build->is_all_kept = false;
        status = run_step(build, step, key, end, err);
    }
    if (status == TD_OK) {
        note_step(build, step, json_get(build->state.steps, step->name));
        *end = RECIPE_DONE;
    }
    recipe_step_deinit(step);
    return status;
}

/* The quantised model has moved to its name when an earlier build was published. */
static enum td_status do_quantize(struct recipe_build *build, const char **candidate,
                                  enum recipe_end *end, struct td_error *err)
{
    struct recipe_step step;
    char key[RECIPE_DIGEST_BYTES];
    make_quantize(build, &step);
    *candidate = build->quantized;
    *end = RECIPE_NO_QUANTIZE;
    enum td_status status = recipe_state_key(&build->state, &step, key, err);
    if (status != TD_OK) {
        recipe_step_deinit(&step);
        return status;
    }
    if (access(build->quantized, F_OK) != 0) {
        step.output = build->output;
        if (recipe_state_find(&build->state, &step, key))
            *candidate = build->output;
        else
            step.output = build->quantized;
    }
    return do_step(build, &step, end, err);
}

enum td_status recipe_build_run(struct recipe_build *build, enum recipe_end *end,
                                struct td_error *err)
{
    const struct recipe *recipe = &build->recipe;
    struct recipe_step step;
    const char *candidate = NULL;
    bool is_new = false;
    *end = RECIPE_FAILED;
    build->is_all_kept = true;
    build->steps = json_new_array();
    const char *path = arena_printf(recipe->arena, "%s/steps.json", build->work);
    enum td_status status = path ? recipe_state_open(&build->state, path, build->interrupted, err)
                                 : error_set(err, TD_NO_MEMORY, "no memory");
    if (status == TD_OK && build->is_folder) {
        make_convert(build, &step);
        status = do_step(build, &step, end, err);
    }
    if (status == TD_OK && recipe->imatrix.there && !recipe->imatrix.file) {
        make_imatrix(build, &step);
        status = do_step(build, &step, end, err);
    }
    if (status == TD_OK)
        status = do_quantize(build, &candidate, end, err);
    if (status == TD_OK) {
        make_evaluate(build, candidate, &step);
        status = do_step(build, &step, end, err);
    }
    if (status == TD_OK && recipe->mistakes.there) {
        make_mistakes(build, candidate, &step);
        status = do_step(build, &step, end, err);
    }
    if (status == TD_OK && recipe->calibrate.there) {
        make_calibrate(build, candidate, &step);
        status = do_step(build, &step, end, err);
    }
    if (status == TD_OK) {
        *end = RECIPE_NO_SIGN;
        status = recipe_publish(build, candidate, &is_new, err);
        say(build, "sign", is_new ? "done" : "kept: the model and its manifest are up to date");
    }
    if (status == TD_OK)
        *end = RECIPE_DONE;
    else if (status == TD_CANCELLED)
        *end = RECIPE_FAILED;
    return status;
}

void recipe_build_deinit(struct recipe_build *build)
{
    if (build->work)
        (void)rmdir(build->work); /* where nothing was done */
    if (build->lock_fd > 0)
        close(build->lock_fd);
    recipe_state_deinit(&build->state);
    json_free(build->steps);
    crypto_signer_free(build->signer);
    config_free(build->config);
    recipe_deinit(&build->recipe);
}
