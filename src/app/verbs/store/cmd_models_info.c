/* tandem models info: what stands in a GGUF file, and what running it takes. */
#define HELP_OF 75
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/model/adapter_file.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_manifest.h"
#include "app/setup/model/model_store.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/machine/cores.h"
#include "base/text/names.h"
#include "engine/forward/kv_pool.h"
#include "engine/forward/workspace.h"
#include "engine/gguf/gguf.h"
#include "engine/model/model.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* The context that a session opens by default (engine/session/session.c). */
#define CONTEXT_DEFAULT_MAX 4096

/* What the cache of one sequence takes with elements of one type. */
struct cache {
    const char *type;
    uint64_t bytes_per_token, bytes;
};

/* Of a file: what the engine makes of it. */
struct needs {
    const struct td_model_info *info; /* NULL: it cannot be run */
    bool is_adapter;
    struct adapter_file adapter;
    uint32_t context_tokens; /* that the estimate is for */
    struct cache caches[3];  /* F16 (the default), Q8_0, Q4_0 */
    uint64_t state_bytes;    /* of Mamba-2 layers, for one text; in `caches` with its copies */
    uint64_t work_bytes;     /* of a pass */
    uint64_t own_bytes; /* of this process, with the vocabulary, and without any of the above */
    const char *problem;
};

/* Pages of the cache as the engine would take them; an encoder has none. */
static struct cache cache_of(const struct td_model *model, enum td_kv_type type, uint32_t tokens)
{
    struct cache cache = {.type = names_kv_type(type)};
    if (model->encoder)
        return cache;
    uint64_t pages = (tokens + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS;
    cache.bytes_per_token = kv_page_bytes(model, type) / KV_PAGE_TOKENS;
    cache.bytes = kv_pool_bytes(model, type, pages);
    return cache;
}

/* What this process has in memory now; 0 = not known. */
static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static struct needs needs_of(const struct td_model *model)
{
    struct needs needs = {.info = &model->info, .own_bytes = resident_bytes()};
    struct cores cores;
    cores_read("", NULL, &cores);
    needs.context_tokens =
        model->context_size < CONTEXT_DEFAULT_MAX ? model->context_size : CONTEXT_DEFAULT_MAX;
    const struct workspace_options one = {
        .logit_row_max = 1, .context_tokens = needs.context_tokens, .bare = true};
    if (!model->encoder)
        needs.work_bytes = workspace_bytes(model, &one, cores_thread_count(&cores));
    needs.state_bytes = recurrent_state_bytes(model);
    needs.caches[0] = cache_of(model, TD_KV_F16, needs.context_tokens);
    needs.caches[1] = cache_of(model, TD_KV_Q8_0, needs.context_tokens);
    needs.caches[2] = cache_of(model, TD_KV_Q4_0, needs.context_tokens);
    return needs;
}

static uint64_t memory_bytes(const struct needs *needs, const struct cache *cache)
{
    return needs->info->file_bytes + cache->bytes;
}

/* What the whole process comes to, once the context is full. */
static uint64_t process_bytes(const struct needs *needs, const struct cache *cache)
{
    return needs->own_bytes + memory_bytes(needs, cache) + needs->work_bytes;
}

static struct json *caches_to_json(const struct needs *needs)
{
    struct json *array = json_new_array();
    for (size_t i = 0; i < sizeof needs->caches / sizeof *needs->caches; i++) {
        const struct cache *cache = &needs->caches[i];
        struct json *object = json_new_object();
        json_put(object, "type", json_new_cstr(cache->type));
        json_put(object, "bytes_per_token", json_new_int((int64_t)cache->bytes_per_token));
        json_put(object, "bytes", json_new_int((int64_t)cache->bytes));
        json_put(object, "memory_bytes", json_new_int((int64_t)memory_bytes(needs, cache)));
        json_put(object, "process_bytes", json_new_int((int64_t)process_bytes(needs, cache)));
        json_push(array, object);
    }
    return array;
}

static struct json *metadata_to_json(const struct gguf *gguf)
{
    struct json *object = json_new_object();
    struct td_str key;
    enum gguf_type type;
    char value[512], name[256];
    for (size_t i = 0; gguf_describe(gguf, i, &key, &type, value, sizeof value); i++) {
        snprintf(name, sizeof name, STR_FMT, STR_ARG(str_slice(key, 0, sizeof name - 1)));
        json_put(object, name, json_new_text(str_from(value)));
    }
    return object;
}

static struct json *tensors_to_json(const struct gguf *gguf)
{
    struct json *array = json_new_array();
    for (size_t i = 0; i < gguf_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        const struct tensor_traits *traits = tensor_traits_get(tensor->type);
        struct json *object = json_new_object(), *dims = json_new_array();
        json_put(object, "name", json_new_text(tensor->name));
        json_put(object, "type", traits ? json_new_cstr(traits->name) : json_new_int(tensor->type));
        for (uint32_t d = 0; d < tensor->dim_count; d++)
            json_push(dims, json_new_int((int64_t)tensor->dims[d]));
        json_put(object, "dims", dims);
        json_push(array, object);
    }
    return array;
}

/* Tensors and bytes of one type. */
struct type_sum {
    const char *name;
    size_t tensors;
    uint64_t bytes;
};

static size_t sum_types(const struct gguf *gguf, struct type_sum sums[static TENSOR_TYPE_COUNT])
{
    size_t count = 0;
    for (uint32_t type = 0; type < TENSOR_TYPE_COUNT; type++) {
        const struct tensor_traits *traits = tensor_traits_get(type);
        struct type_sum sum = {.name = traits ? traits->name : "unsupported"};
        for (size_t i = 0; i < gguf_tensor_count(gguf); i++) {
            const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
            if (tensor->type != type)
                continue;
            sum.tensors++;
            sum.bytes += tensor->bytes;
        }
        if (sum.tensors)
            sums[count++] = sum;
    }
    return count;
}

static struct json *types_to_json(const struct gguf *gguf)
{
    struct type_sum sums[TENSOR_TYPE_COUNT];
    struct json *array = json_new_array();
    size_t count = sum_types(gguf, sums);
    for (size_t i = 0; i < count; i++) {
        struct json *object = json_new_object();
        json_put(object, "type", json_new_cstr(sums[i].name));
        json_put(object, "tensors", json_new_int((int64_t)sums[i].tensors));
        json_put(object, "bytes", json_new_int((int64_t)sums[i].bytes));
        json_push(array, object);
    }
    return array;
}

/* What a manifest beside the file says; its signature has been checked, the file's bytes have
 * not. NULL = there is none. */
static struct json *manifest_to_json(const char *path)
{
    struct model_manifest manifest;
    struct td_error err = {0};
    struct json *object = NULL;
    enum td_status status = model_manifest_load(path, &manifest, &err);
    if (status != TD_NOT_FOUND) {
        object = json_new_object();
        if (status == TD_OK)
            json_put(object, "public_key", json_new_cstr(manifest.key));
        json_put(object, status == TD_OK ? "body" : "problem",
                 status == TD_OK ? json_clone(manifest.body) : json_new_cstr(err.message));
    }
    model_manifest_deinit(&manifest);
    return object;
}

static void print_manifest(const char *path)
{
    struct model_manifest manifest;
    struct td_error err = {0};
    enum td_status status = model_manifest_load(path, &manifest, &err);
    const struct json *body = manifest.body;
    const char *day = json_cstr(json_get(body, "built")), *program, *license;
    if (status == TD_OK) {
        program = json_cstr(json_get(body, "program"));
        license = json_cstr(json_get(body, "license"));
        printf("built %.10s by %s from %zu files, licence %s; signed by %s; 'tandem models verify' "
               "checks the file\n",
               day ? day : "?", program ? program : "?", json_count(json_get(body, "sources")),
               license ? license : "not said", manifest.key);
    } else if (status != TD_NOT_FOUND) {
        printf("a manifest that cannot be used: %s\n", err.message);
    }
    model_manifest_deinit(&manifest);
}

static bool print_json(const struct gguf *gguf, const struct needs *needs)
{
    char fingerprint[17];
    struct model_origin origin;
    snprintf(fingerprint, sizeof fingerprint, "%016llx",
             (unsigned long long)gguf_fingerprint(gguf));
    model_origin_read(gguf_path(gguf), &origin);
    struct json *object = json_new_object();
    json_put(object, "path", json_new_cstr(gguf_path(gguf)));
    json_put(object, "file_bytes", json_new_int((int64_t)gguf_file_bytes(gguf)));
    json_put(object, "fingerprint", json_new_cstr(fingerprint));
    json_put(object, "sha256", origin.known ? json_new_cstr(origin.sha256) : json_new_null());
    json_put(object, "manifest", manifest_to_json(gguf_path(gguf)));
    json_put(object, "kind", json_new_cstr(needs->is_adapter ? "adapter" : "model"));
    json_put(object, "usable", json_new_bool(needs->info || needs->is_adapter));
    if (needs->info) {
        json_put(object, "architecture", json_new_cstr(needs->info->architecture));
        json_put(object, "quantization", json_new_cstr(needs->info->quantization));
        json_put(object, "parameter_count", json_new_int((int64_t)needs->info->parameter_count));
        json_put(object, "context_tokens", json_new_int(needs->info->context_tokens));
        json_put(object, "vocab_count", json_new_int(needs->info->vocab_count));
        json_put(object, "kv_bytes_per_token",
                 json_new_int((int64_t)needs->caches[0].bytes_per_token));
        json_put(object, "memory_context_tokens", json_new_int(needs->context_tokens));
        json_put(object, "memory_bytes",
                 json_new_int((int64_t)memory_bytes(needs, &needs->caches[0])));
        json_put(object, "kv_caches", caches_to_json(needs));
    } else if (needs->is_adapter) {
        json_put(object, "adapter", adapter_file_to_json(&needs->adapter));
    } else {
        json_put(object, "problem", json_new_cstr(needs->problem));
    }
    json_put(object, "types", types_to_json(gguf));
    json_put(object, "metadata", metadata_to_json(gguf));
    json_put(object, "tensors", tensors_to_json(gguf));
    return command_print_json(object);
}

static void print_needs(const struct needs *needs)
{
    const struct td_model_info *info = needs->info;
    printf("%s %s, %.1f M parameters, %u layers, vocabulary of %u, trained for %u tokens\n",
           info->architecture, info->quantization, (double)info->parameter_count / 1e6,
           info->layer_count, info->vocab_count, info->context_tokens);
    printf("memory for one sequence of %u tokens: %.1f MB of weights and the KV cache\n",
           needs->context_tokens, (double)info->file_bytes / 1e6);
    for (size_t i = 0; i < sizeof needs->caches / sizeof *needs->caches; i++)
        printf(
            "  --kv-type %-5s %8.2f KB a token, %8.1f MB; together %.1f MB; the process %.1f MB\n",
            needs->caches[i].type, (double)needs->caches[i].bytes_per_token / 1e3,
            (double)needs->caches[i].bytes / 1e6,
            (double)memory_bytes(needs, &needs->caches[i]) / 1e6,
            (double)process_bytes(needs, &needs->caches[i]) / 1e6);
    if (needs->state_bytes)
        printf("  of that, the state of the Mamba-2 layers: %.1f MB, and up to %d copies of it\n",
               (double)needs->state_bytes / 1e6, CHECKPOINTS_MAX);
}

static void print_adapter(const struct adapter_file *adapter)
{
    printf("LoRA adapter for %s: rank %u, alpha %g, %llu matrices of the model in %llu tensors; "
           "--lora FILE, or engine.adapters\n",
           *adapter->architecture ? adapter->architecture : "an architecture that it does not name",
           adapter->rank_max, (double)adapter->alpha, (unsigned long long)adapter->matrix_count,
           (unsigned long long)adapter->tensor_count);
}

static bool print_text(const struct gguf *gguf, const struct needs *needs)
{
    struct td_str key;
    enum gguf_type type;
    char value[96];
    struct model_origin origin;
    struct type_sum sums[TENSOR_TYPE_COUNT];
    command_harmless_begin();
    printf("%s\n%llu bytes, %zu tensors, fingerprint %016llx\n", gguf_path(gguf),
           (unsigned long long)gguf_file_bytes(gguf), gguf_tensor_count(gguf),
           (unsigned long long)gguf_fingerprint(gguf));
    model_origin_read(gguf_path(gguf), &origin);
    if (origin.known)
        printf("sha256 %s, from %s\n", origin.sha256, origin.source);
    else if (origin.changed)
        printf("changed since it was pulled from %s\n", origin.source);
    print_manifest(gguf_path(gguf));
    if (needs->info)
        print_needs(needs);
    else if (needs->is_adapter)
        print_adapter(&needs->adapter);
    else
        printf("cannot be run: %s\n", needs->problem);
    size_t count = sum_types(gguf, sums);
    for (size_t i = 0; i < count; i++)
        printf("%s%s: %zu tensors, %.1f MB", i ? "; " : "types: ", sums[i].name, sums[i].tensors,
               (double)sums[i].bytes / 1e6);
    puts(count ? "" : "no tensors");
    for (size_t i = 0; gguf_describe(gguf, i, &key, &type, value, sizeof value); i++)
        printf("  %-42.*s %s\n", (int)(key.len > 200 ? 200 : key.len), key.data, value);
    return command_harmless_end(false);
}

/* A file whose tensors cannot be read is still described. */
static enum td_status open_any(const char *path, struct gguf **out, struct td_error *err)
{
    if (gguf_open(path, false, out, NULL) == TD_OK)
        return TD_OK;
    return gguf_open(path, true, out, err);
}

static int cmd_models_info(int argc, char **argv)
{
    const char *config_path = NULL, *model_option = NULL, *named[1] = {NULL};
    bool json = false;
    size_t named_count = 0;
    enum td_cpu cpu = TD_CPU_AUTO;
    const struct option options[] = {OPTION_ROW_CONFIG(config_path), OPTION_ROW_MODEL(model_option),
                                     OPTION_ROW_CPU(cpu), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "models info",
        .arguments = "[MODEL]",
        .summary = HELP_TEXT(
            "Shows what a model contains: architecture, tensor types and metadata. It also "
            "shows how much memory the model needs, with a KV cache in F16 and in Q8_0. "
            "MODEL is a file or a downloaded model; without it the embedded model is shown."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &named_count);
    const char *wanted = named_count ? named[0] : model_option;
    struct td_error err = {0}, problem = {0};
    struct config *config = NULL;
    char path[4096 + MODEL_NAME_BYTES];
    struct gguf *gguf = NULL;
    struct td_model *model = NULL;
    struct td_model_options model_options = {.cpu = cpu};
    struct needs needs = {0};
    bool printed = true;
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK)
        status = model_file_find(wanted, config->models.dir, path, sizeof path, &err);
    if (status == TD_OK)
        status = open_any(path, &gguf, &err);
    if (status == TD_OK) {
        if (td_model_open(path, &model_options, &model, &problem) == TD_OK) {
            /* What was read of the file is in memory, up to all of it, and counts as weights. */
            gguf_advise(gguf, MADV_DONTNEED);
            gguf_advise(model->gguf, MADV_DONTNEED);
            needs = needs_of(model);
        } else {
            needs.is_adapter = adapter_file_read(path, &needs.adapter);
        }
        needs.problem = problem.message;
        printed = (json ? print_json : print_text)(gguf, &needs);
    }
    td_model_close(model);
    gguf_close(gguf);
    config_free(config);
    return status == TD_OK ? !printed : command_fail("models info", &err);
}

const struct verb verb_models_info = {
    "info", cmd_models_info, HELP_TEXT("show what a model contains and how much memory it needs")};
