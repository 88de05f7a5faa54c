#include "quant/convert/convert.h"

#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"
#include "quant/convert/convert_check.h"
#include "quant/convert/hf_tokenizer.h"
#include "quant/convert/hf_weights.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_BYTES_MAX ((size_t)16 << 20)
#define NUMBER_MAX 2147483647.0
#define LAYERS_MAX 1024 /* the engine's */

struct folder {
    const char *path;
    struct json *config, *tokenizer, *tokenizer_config;
    struct buf chat_template;
    const struct json *text; /* config, or its text_config */
    const struct hf_family *family;
    struct safetensors *files;
    struct hf_weights weights;
};

/* --- reading the folder --- */

static enum td_status read_json(const struct folder *folder, const char *name, size_t bytes_max,
                                bool required, struct json **out, struct td_error *err)
{
    char path[PATH_MAX];
    struct buf text;
    enum td_status status = path_join(path, sizeof path, folder->path, name, err);
    if (status != TD_OK || (!required && access(path, F_OK) != 0))
        return status;
    buf_init(&text, bytes_max);
    status = buf_read_file(&text, path, err);
    if (status == TD_OK) {
        status = json_parse(buf_view(&text), out, err);
        if (status != TD_OK)
            error_prefix(err, "%s", path);
    }
    buf_deinit(&text);
    return status;
}

static enum td_status find_family(struct folder *folder, struct td_error *err)
{
    struct td_str type = json_text(json_get(folder->config, "model_type"));
    folder->text = folder->config;
    bool gemma4 = str_equal(type, STR("gemma4"));
    if ((gemma4 || str_equal(type, STR("gemma3"))) &&
        !json_absent(json_get(folder->config, "text_config"))) {
        folder->text = json_get(folder->config, "text_config");
        type = gemma4 ? STR("gemma4_text") : STR("gemma3_text");
    }
    char list[600];
    folder->family = hf_family_find(type);
    if (folder->family)
        return TD_OK;
    hf_family_list(false, list, sizeof list);
    return error_set(err, TD_UNSUPPORTED,
                     "%s/config.json: model_type '" STR_FMT "'; converted are %s", folder->path,
                     STR_ARG(str_slice(type, 0, 60)), list);
}

/* OpenELM's names in config.json, and the epsilon of its norms, which stands in its code. */
static void rename_keys(struct json *config)
{
    static const char *const names[][2] = {{"hidden_size", "model_dim"},
                                           {"num_hidden_layers", "num_transformer_layers"},
                                           {"max_position_embeddings", "max_context_length"},
                                           {"rope_theta", "rope_freq_constant"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_put(config, names[i][0], json_clone(json_get(config, names[i][1])));
    json_put(config, "num_attention_heads",
             json_clone(json_at(json_get(config, "num_query_heads"), 0)));
    if (json_absent(json_get(config, "rms_norm_eps")))
        json_put(config, "rms_norm_eps", json_new_double(1e-6));
}

static enum td_status read_folder(struct folder *folder, struct td_error *err)
{
    char path[PATH_MAX];
    enum td_status status =
        read_json(folder, "config.json", CONFIG_BYTES_MAX, true, &folder->config, err);
    if (status == TD_OK)
        status = find_family(folder, err);
    if (status == TD_OK && folder->family->openelm)
        rename_keys(folder->config);
    if (status == TD_OK)
        status = read_json(folder, "tokenizer.json", HF_TOKENIZER_BYTES_MAX, true,
                           &folder->tokenizer, err);
    if (status == TD_OK)
        status = read_json(folder, "tokenizer_config.json", CONFIG_BYTES_MAX, false,
                           &folder->tokenizer_config, err);
    if (status == TD_OK)
        status = path_join(path, sizeof path, folder->path, "chat_template.jinja", err);
    if (status == TD_OK && access(path, F_OK) == 0)
        status = buf_read_file(&folder->chat_template, path, err);
    if (status == TD_OK)
        status = safetensors_open(folder->path, &folder->files, err);
    if (status == TD_OK)
        status =
            hf_weights_init(&folder->weights, folder->family, folder->text, folder->files, err);
    return status;
}

static void close_folder(struct folder *folder)
{
    hf_weights_deinit(&folder->weights);
    safetensors_close(folder->files);
    json_free(folder->config);
    json_free(folder->tokenizer);
    json_free(folder->tokenizer_config);
    buf_deinit(&folder->chat_template);
}

/* --- metadata --- */

struct pairs {
    const struct folder *folder;
    struct buf *buf;
    uint64_t count;
    char key[128];
};

static const char *key_of(struct pairs *pairs, const char *name)
{
    snprintf(pairs->key, sizeof pairs->key, "%s.%s", pairs->folder->family->architecture, name);
    return pairs->key;
}

static void put_number(struct pairs *pairs, const char *name, double value, bool whole)
{
    if (whole)
        gguf_put_u32(pairs->buf, key_of(pairs, name), (uint32_t)value);
    else
        gguf_put_f32(pairs->buf, key_of(pairs, name), (float)value);
    pairs->count++;
}

static void put_text(struct pairs *pairs, const char *key, const char *value)
{
    if (value == NULL)
        return;
    gguf_put_string(pairs->buf, key, str_from(value));
    pairs->count++;
}

/* Keys that are the same number in both. */
static const struct {
    const char *theirs, *ours;
    bool whole, required;
} numbers[] = {
    {"max_position_embeddings", "context_length", true, true},
    {"hidden_size", "embedding_length", true, true},
    {"conv_L_cache", "shortconv.l_cache", true, false},
    {"num_dense_layers", "leading_dense_block_count", true, false},
    {"num_kv_shared_layers", "attention.shared_kv_layers", true, false},
    {"hidden_size_per_layer_input", "embedding_length_per_layer_input", true, false},
    {"mamba_d_conv", "ssm.conv_kernel", true, false},
    {"conv_kernel", "ssm.conv_kernel", true, false},
    {"mamba_d_state", "ssm.state_size", true, false},
    {"ssm_state_size", "ssm.state_size", true, false},
    {"mamba_n_heads", "ssm.time_step_rank", true, false},
    {"mamba_num_heads", "ssm.time_step_rank", true, false},
    {"mamba_n_groups", "ssm.group_count", true, false},
    {"n_groups", "ssm.group_count", true, false},
    {"head_dim", "attention.key_length", true, false},
    {"head_dim", "attention.value_length", true, false},
    {"attn_logit_softcapping", "attn_logit_softcapping", false, false},
    {"final_logit_softcapping", "final_logit_softcapping", false, false},
    {"embedding_multiplier", "embedding_scale", false, false},
    {"residual_multiplier", "residual_scale", false, false},
    {"logits_scaling", "logit_scale", false, false},
    {"attention_multiplier", "attention.scale", false, false},
};

static enum td_status bad_number(const char *name, struct td_error *err)
{
    return error_set(err, TD_CORRUPT, "config.json: %s is no positive number", name);
}

/* nemotron_h lists the kinds of its layers instead. */
static double layer_count(const struct folder *folder)
{
    size_t listed = json_count(json_get(folder->text, "layers_block_type"));
    return json_number(json_get(folder->text, "num_hidden_layers"), (double)listed);
}

/* A size that pruned models have anew in each layer: the rows of a matrix, in `unit`. One number if
 * all layers have the same, an array otherwise; `all` if no layer has the matrix. */
static enum td_status put_each(struct pairs *pairs, const char *key, const char *part, double unit,
                               double all, struct td_error *err)
{
    const struct folder *folder = pairs->folder;
    uint32_t each[LAYERS_MAX], most = 0;
    double layers = layer_count(folder);
    bool same = true;
    for (uint32_t i = 0; i < (uint32_t)layers; i++) {
        double count = (double)hf_weights_rows(&folder->weights, i, part) / unit;
        each[i] = count < NUMBER_MAX ? (uint32_t)count : (uint32_t)NUMBER_MAX;
        /* Heads of which only the output is left: one matrix in place of the attention. */
        if (each[i] == 0 && strcmp(part, "attn_q") == 0 &&
            hf_weights_rows(&folder->weights, i, "attn_output"))
            each[i] = (uint32_t)all;
        same = same && each[i] == each[0];
        most = each[i] > most ? each[i] : most;
    }
    bool mixed = folder->family->short_conv || folder->family->ssm;
    bool listed = !same && !(mixed && strcmp(part, "attn_q") == 0);
    all = same && most ? most : all;
    if (!listed && (!(all > 0) || all > NUMBER_MAX))
        return bad_number(key, err);
    if (!listed)
        put_number(pairs, key, all, true);
    else
        gguf_put_u32s(pairs->buf, key_of(pairs, key), each, (uint64_t)layers);
    pairs->count += listed;
    return TD_OK;
}

/* The same where config.json lists it and matrices are fused; the engine compares their rows. */
static enum td_status put_listed(struct pairs *pairs, const char *key, const char *theirs,
                                 struct td_error *err)
{
    const struct json *list = json_get(pairs->folder->text, theirs);
    uint32_t each[LAYERS_MAX], layers = (uint32_t)layer_count(pairs->folder);
    if (json_count(list) != layers)
        return error_set(err, TD_CORRUPT, "config.json: %s is no list of %u numbers", theirs,
                         layers);
    for (uint32_t i = 0; i < layers; i++)
        each[i] = (uint32_t)json_int(json_at(list, i), 0);
    gguf_put_u32s(pairs->buf, key_of(pairs, key), each, layers);
    pairs->count++;
    return TD_OK;
}

static void put_experts(struct pairs *pairs, double dense_ffn)
{
    const struct hf_weights *weights = &pairs->folder->weights;
    const struct hf_tensor *up = hf_weights_first(weights, "ffn_up_exps");
    const struct hf_tensor *shared = hf_weights_first(weights, "ffn_up_shexp");
    double used = json_number(json_get(pairs->folder->text, "num_experts_per_tok"), 0);
    put_number(pairs, "expert_count", hf_expert_count(pairs->folder->text), true);
    put_number(pairs, "expert_used_count", used >= 1 && used < NUMBER_MAX ? used : 0, true);
    if (up)
        put_number(pairs, "expert_feed_forward_length", (double)up->rows, true);
    if (shared)
        put_number(pairs, "expert_shared_feed_forward_length", (double)shared->rows, true);
    if (dense_ffn >= 1 && dense_ffn < NUMBER_MAX)
        put_number(pairs, "feed_forward_length", dense_ffn, true);
    if (hf_weights_first(weights, "ffn_gate_inp") && pairs->folder->family->short_conv)
        put_number(pairs, "expert_gating_func", 2, true); /* sigmoids */
}

static bool has_window(const struct pairs *pairs, size_t layer)
{
    const struct json *kinds = json_get(pairs->folder->text, "layer_types");
    return str_equal(json_text(json_at(kinds, layer)), STR("sliding_attention"));
}

static void put_windows(struct pairs *pairs, uint32_t layers)
{
    bool windows[LAYERS_MAX];
    for (uint32_t i = 0; i < layers; i++)
        windows[i] = has_window(pairs, i);
    gguf_put_bools(pairs->buf, key_of(pairs, "attention.sliding_window_pattern"), windows, layers);
    pairs->count++;
}

/* Gemma 4: a layer has a window or not, which decides the size of its heads. */
static enum td_status put_two_heads(struct pairs *pairs, double heads, double kv_heads,
                                    struct td_error *err)
{
    const struct folder *folder = pairs->folder;
    const struct json *kinds = json_get(folder->text, "layer_types");
    uint32_t layers = (uint32_t)layer_count(folder), each[LAYERS_MAX];
    uint32_t head = hf_global_head_size(&folder->weights), local = hf_head_size(folder->text);
    bool same = true;
    if (json_count(kinds) != layers || head == 0 || !(kv_heads >= 1) || kv_heads > NUMBER_MAX)
        return error_set(err, TD_CORRUPT,
                         "config.json: layer_types or num_key_value_heads do not fit %u layers",
                         layers);
    for (uint32_t i = 0; i < layers; i++) {
        uint64_t rows = hf_weights_rows(&folder->weights, i, "attn_k");
        each[i] = (uint32_t)kv_heads;
        if (!has_window(pairs, i)) /* those that share keys have as many as those before them */
            each[i] = rows ? (uint32_t)(rows / head) : 0;
        for (uint32_t j = i; each[i] == 0 && j > 0; j--)
            each[i] = has_window(pairs, j - 1) ? 0 : each[j - 1];
        same = same && each[i] == each[0];
    }
    put_number(pairs, "attention.head_count", heads, true);
    if (same)
        put_number(pairs, "attention.head_count_kv", kv_heads, true);
    else
        gguf_put_u32s(pairs->buf, key_of(pairs, "attention.head_count_kv"), each, layers);
    pairs->count += !same;
    put_windows(pairs, layers);
    static const char *const sizes[] = {"attention.key_length", "attention.value_length",
                                        "rope.dimension_count"};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        char name[48];
        snprintf(name, sizeof name, "%s%s", sizes[i / 2], i % 2 ? "_swa" : "");
        put_number(pairs, name, i % 2 ? local : head, true);
    }
    return TD_OK;
}

static enum td_status put_sizes(struct pairs *pairs, struct td_error *err)
{
    const struct json *config = pairs->folder->text;
    const char *epsilon = pairs->folder->family->epsilon;
    double heads = json_number(json_get(config, "num_attention_heads"), 0);
    double kv_heads = json_number(json_get(config, "num_key_value_heads"), 0);
    double unit = hf_head_size(config), value;
    if (!(heads > 0) || heads > NUMBER_MAX)
        return bad_number("num_attention_heads", err);
    const struct hf_weights *weights = &pairs->folder->weights;
    bool two_heads = pairs->folder->family->two_heads, openelm = pairs->folder->family->openelm;
    enum td_status status =
        two_heads ? put_two_heads(pairs, heads, kv_heads, err)
        : openelm ? put_listed(pairs, "attention.head_count", "num_query_heads", err)
                  : put_each(pairs, "attention.head_count", "attn_q", unit, heads, err);
    if (status == TD_OK && openelm)
        status = put_listed(pairs, "attention.head_count_kv", "num_kv_heads", err);
    else if (status == TD_OK && !two_heads)
        status = put_each(pairs, "attention.head_count_kv", "attn_k", unit,
                          kv_heads > 0 ? kv_heads : heads, err);
    double ffn = json_number(json_get(config, "intermediate_size"), 0);
    bool gated = !pairs->folder->family->ssm || hf_weights_first(weights, "ffn_gate");
    if (hf_weights_first(weights, "ffn_gate_exps"))
        put_experts(pairs, ffn);
    else if (status == TD_OK)
        status = put_each(pairs, "feed_forward_length", gated ? "ffn_gate" : "ffn_up", 1, ffn, err);
    epsilon = epsilon ? epsilon : "rms_norm_eps";
    value = json_number(json_get(config, epsilon), 0);
    if (status == TD_OK && !(value > 0))
        return bad_number(epsilon, err);
    put_number(pairs,
               pairs->folder->family->layer_norm ? "attention.layer_norm_epsilon"
                                                 : "attention.layer_norm_rms_epsilon",
               value, false);
    return status;
}

static void put_ssm(struct pairs *pairs)
{
    const struct hf_tensor *out = hf_weights_first(&pairs->folder->weights, "ssm_out");
    struct td_str positions = json_text(json_get(pairs->folder->text, "position_embedding_type"));
    if (out)
        put_number(pairs, "ssm.inner_size", (double)out->cols, true);
    if (str_equal(str_from(pairs->folder->family->model_type), STR("granitemoehybrid")) &&
        !str_equal(positions, STR("rope"))) {
        gguf_put_bool(pairs->buf, key_of(pairs, "rope.scaling.finetuned"), false);
        pairs->count++;
    }
}

static enum td_status put_numbers(struct pairs *pairs, struct td_error *err)
{
    const struct json *config = pairs->folder->text;
    double layers = layer_count(pairs->folder);
    if (!(layers >= 1 && layers <= LAYERS_MAX) || layers != floor(layers))
        return error_set(err, TD_CORRUPT, "config.json: num_hidden_layers is not in [1, %d]",
                         LAYERS_MAX);
    put_number(pairs, "block_count", layers, true);
    if (pairs->folder->family->scales)
        put_number(pairs, "logit_scale", 1, false);
    if (pairs->folder->family->ssm)
        put_ssm(pairs);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct json *value = json_get(config, numbers[i].theirs);
        double number = json_number(value, -1);
        bool other = pairs->folder->family->two_heads &&
                     strcmp(numbers[i].theirs, "head_dim") == 0; /* put_two_heads */
        if (((json_absent(value) || number == 0) && !numbers[i].required) || other)
            continue;
        if (!(number > 0) || number > NUMBER_MAX || (numbers[i].whole && number != floor(number)))
            return bad_number(numbers[i].theirs, err);
        put_number(pairs, numbers[i].ours, number, numbers[i].whole);
    }
    if (pairs->folder->family->four_norms) {
        double window = json_number(json_get(config, "sliding_window"), 0);
        if (window > 0 && window <= NUMBER_MAX)
            put_number(pairs, "attention.sliding_window", window, true);
    }
    if (pairs->folder->family->gpt_oss) {
        const struct json *kinds = json_get(config, "layer_types");
        if (!json_absent(kinds) && json_count(kinds) != (size_t)layers)
            return error_set(err, TD_CORRUPT, "config.json: layer_types do not fit %g layers",
                             layers);
        if (json_number(json_get(config, "swiglu_limit"), 7) != 7)
            return error_set(err, TD_UNSUPPORTED,
                             "config.json: swiglu_limit is not 7, the only one known");
        if (!json_absent(kinds))
            put_windows(pairs, (uint32_t)layers);
    }
    return put_sizes(pairs, err);
}

static enum td_status put_rope(struct pairs *pairs, struct td_error *err)
{
    const struct json *config = pairs->folder->text;
    const struct json *rope = hf_rope(config);
    double base = hf_rope_base(config, false), local = hf_rope_base(config, true);
    put_number(pairs, "rope.freq_base", base, false);
    if (local > 0)
        put_number(pairs, "rope.freq_base_swa", local, false);
    double heads = json_number(json_get(config, "num_attention_heads"), 1);
    double head = json_number(json_get(config, "head_dim"), 0);
    head = head > 0 ? head : json_number(json_get(config, "hidden_size"), 0) / heads;
    if (!pairs->folder->family->two_heads)
        put_number(pairs, "rope.dimension_count", floor(head * hf_rotary_part(config)), true);
    struct td_str kind = json_text(json_get(rope, "rope_type"));
    kind = kind.len ? kind : json_text(json_get(rope, "type"));
    double factor = json_number(json_get(rope, "factor"), 0);
    double original = json_number(json_get(rope, "original_max_position_embeddings"), 0);
    if (original <= 0)
        original = json_number(json_get(config, "original_max_position_embeddings"), 0);
    bool tensor = str_equal(kind, STR("llama3")) ||
                  (str_equal(kind, STR("proportional")) && pairs->folder->family->two_heads);
    bool by_base = json_number(json_get(rope, "alpha"), 0) > 0;
    if (kind.len == 0 || str_equal(kind, STR("default")) || tensor || by_base)
        return TD_OK; /* hf_weights.c has it */
    bool longrope = str_equal(kind, STR("longrope")), yarn = str_equal(kind, STR("yarn"));
    if (!longrope && !yarn && !str_equal(kind, STR("linear")))
        return error_set(err, TD_UNSUPPORTED,
                         "config.json: rope_scaling of the type '" STR_FMT
                         "'; linear, yarn, llama3 and longrope are known",
                         STR_ARG(str_slice(kind, 0, 40)));
    gguf_put_string(pairs->buf, key_of(pairs, "rope.scaling.type"), kind);
    pairs->count++;
    if (factor > 0)
        put_number(pairs, "rope.scaling.factor", factor, false);
    if (original > 0 && original <= NUMBER_MAX)
        put_number(pairs, "rope.scaling.original_context_length", original, true);
    for (int i = 0; yarn && i < 2; i++) {
        double turns = json_number(json_get(rope, i ? "beta_slow" : "beta_fast"), 0);
        if (turns > 0)
            put_number(pairs, i ? "rope.scaling.yarn_beta_slow" : "rope.scaling.yarn_beta_fast",
                       turns, false);
    }
    double context = json_number(json_get(config, "max_position_embeddings"), 0);
    if (longrope && original > 0) {
        double scale = context / original;
        put_number(pairs, "rope.scaling.attn_factor",
                   scale <= 1 ? 1 : sqrt(1 + log(scale) / log(original)), false);
    }
    return TD_OK;
}

/* "NAME sha256:HEX" of each file that was read. */
static void put_sources(struct pairs *pairs)
{
    const struct safetensors *files = pairs->folder->files;
    gguf_put_strings(pairs->buf, "tandem.source.files", safetensors_file_count(files));
    for (size_t i = 0; i < safetensors_file_count(files); i++) {
        const void *data;
        size_t len;
        uint8_t digest[CRYPTO_SHA256_BYTES];
        char hex[2 * CRYPTO_SHA256_BYTES + 1], line[NAME_MAX + 100];
        const char *path = safetensors_file(files, i, &data, &len), *name = strrchr(path, '/');
        crypto_sha256(data, len, digest);
        crypto_hex(digest, sizeof digest, hex);
        snprintf(line, sizeof line, "%s sha256:%s", name ? name + 1 : path, hex);
        gguf_put_element(pairs->buf, str_from(line));
    }
    pairs->count++;
}

static void put_provenance(struct pairs *pairs, const struct convert_options *options)
{
    char when[25];
    clock_format_iso8601(clock_wall_ms(NULL), when);
    put_sources(pairs);
    put_text(pairs, "tandem.source.model",
             json_cstr(json_get(pairs->folder->config, "_name_or_path")));
    put_text(pairs, "tandem.source.converted", when);
    put_text(pairs, "tandem.source.dequantized_from", pairs->folder->weights.packed);
    put_text(pairs, "tandem.source.teacher", options->teacher);
    put_text(pairs, "tandem.source.method", options->method);
    put_text(pairs, "general.license", options->license);
}

static enum td_status put_all(struct pairs *pairs, const struct convert_options *options,
                              struct td_error *err)
{
    const struct folder *folder = pairs->folder;
    uint32_t vocab_count = (uint32_t)hf_weights_find(&folder->weights, "token_embd.weight")->rows;
    const char *base = strrchr(folder->path, '/');
    put_text(pairs, "general.architecture", folder->family->architecture);
    put_text(pairs, "general.type", "model");
    put_text(pairs, "general.name",
             options->name     ? options->name
             : base && base[1] ? base + 1
                               : folder->path);
    gguf_put_u32(pairs->buf, "general.file_type", mix_file_type(options->mix));
    gguf_put_u32(pairs->buf, "general.quantization_version", 2);
    pairs->count += 2;
    put_number(pairs, "vocab_size", vocab_count, true);
    enum td_status status = put_numbers(pairs, err);
    if (status == TD_OK)
        status = put_rope(pairs, err);
    if (status == TD_OK)
        status = hf_tokenizer_convert(folder->tokenizer, folder->tokenizer_config, folder->text,
                                      buf_view(&folder->chat_template), vocab_count, pairs->buf,
                                      &pairs->count, err);
    return status;
}

/* --- writing --- */

struct writing {
    const struct hf_weights *weights;
    const struct encode_tensor *tensors;
    const struct convert_options *options;
};

static void read_row(void *ctx, size_t index, uint64_t row, void *out)
{
    const struct writing *writing = ctx;
    if (writing->tensors[index].encoded)
        hf_weights_copy(writing->weights, index, row, out);
    else
        hf_weights_read(writing->weights, index, row, out);
}

static void progress(void *ctx, uint64_t done, uint64_t total)
{
    const struct writing *writing = ctx;
    if (writing->options->progress)
        writing->options->progress(writing->options->progress_ctx, done, total);
}

static struct mix_model model_of(const struct folder *folder)
{
    struct mix_model model = {.tied = folder->weights.tied, .group = 1};
    double heads = json_number(json_get(folder->text, "num_attention_heads"), 1);
    double kv_heads = json_number(json_get(folder->text, "num_key_value_heads"), heads);
    double layers = layer_count(folder);
    model.expert_count = hf_expert_count(folder->text);
    if (kv_heads >= 1 && heads >= 1 && heads < 1e6)
        model.group = (uint32_t)(heads / kv_heads);
    if (layers >= 1 && layers < 1e6)
        model.layer_count = (uint32_t)layers;
    return model;
}

static void plan_tensors(const struct folder *folder, const struct mix *mix,
                         struct encode_tensor *tensors)
{
    struct mix_model model = model_of(folder);
    for (size_t i = 0; i < folder->weights.count; i++) {
        const struct hf_tensor *from = &folder->weights.tensors[i];
        struct gguf_write_tensor *to = &tensors[i].to;
        *to = (struct gguf_write_tensor){
            str_from(from->name),
            TENSOR_F32,
            from->dim_count,
            {from->cols, from->rows, from->experts ? from->experts : 1, 1}};
        if (!mix_keeps(to->name, to->dims))
            to->type = mix_fit(mix_type(mix, &model, to->name), from->cols);
        /* MXFP4 keeps its bits unless floats are asked for. */
        tensors[i].encoded = from->packing == HF_MXFP4 && to->type != TENSOR_F32;
        if (tensors[i].encoded)
            to->type = TENSOR_MXFP4;
    }
}

enum td_status convert_folder(const struct convert_options *options, struct convert_result *result,
                              struct td_error *err)
{
    struct folder folder = {.path = options->folder};
    struct buf buf;
    *result = (struct convert_result){.tensor_count = 0};
    buf_init(&folder.chat_template, CONFIG_BYTES_MAX);
    buf_init(&buf, GGUF_HEAD_BYTES_MAX);
    struct pairs pairs = {.folder = &folder, .buf = &buf};
    struct encode_tensor *tensors = NULL;
    enum td_status status = read_folder(&folder, err);
    if (status == TD_OK)
        status = put_all(&pairs, options, err);
    if (status == TD_OK) {
        tensors = calloc(folder.weights.count + 1, sizeof *tensors);
        if (tensors == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for tensors");
    }
    struct writing writing = {&folder.weights, NULL, options};
    if (status == TD_OK) {
        plan_tensors(&folder, options->mix, tensors);
        writing.tensors = tensors;
        struct encode_job job = {.tensors = tensors,
                                 .tensor_count = folder.weights.count,
                                 .read_row = read_row,
                                 .progress = progress,
                                 .ctx = &writing,
                                 .pairs = &buf,
                                 .pair_count = pairs.count,
                                 .force = options->force,
                                 .cancel = options->cancel,
                                 .threads = options->threads};
        status =
            convert_check(folder.path, folder.family->architecture, &folder.weights, &job, err);
        if (status == TD_OK)
            put_provenance(&pairs, options);
        job.pair_count = pairs.count;
        if (status == TD_OK)
            status = encode_file(&job, options->out, &result->file, err);
        snprintf(result->architecture, sizeof result->architecture, "%s",
                 folder.family->architecture);
        result->tensor_count = folder.weights.count;
        result->packed = folder.weights.packed;
    }
    free(tensors);
    buf_deinit(&buf);
    close_folder(&folder);
    return status;
}
