/* What differs between the forms: names; PEFT's A is [rank, in] and B [out, rank] as GGUF's are;
 * and rows of q and k, which Hugging Face has in halves and GGUF in pairs for some families
 * (hf_weights.c), so rows of B move. */
#include "quant/convert/lora_peft.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/gguf/gguf_write.h"
#include "quant/convert/hf_weights.h"
#include "quant/encode/encode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4400
#define NAME_BYTES 160
#define CONFIG_BYTES_MAX ((size_t)1 << 20)
#define HEADER_BYTES_MAX ((size_t)16 << 20)
#define DATA_BYTES_MAX ((size_t)8 << 30)
#define BEGIN "base_model.model."

/* Whether the rows of this matrix are in pairs here and in halves there. */
static bool is_turned(const struct td_model *model, const struct hf_family *family,
                      struct td_str stem)
{
    return family->interleaved && model->head_size > 1 &&
           (str_ends_with(stem, STR(".attn_q.weight")) ||
            str_ends_with(stem, STR(".attn_k.weight")));
}

static enum td_status family_of(const struct td_model *model, const struct hf_family **out,
                                struct td_error *err)
{
    char list[400];
    *out = hf_family_of(model->architecture->name);
    if (*out)
        return TD_OK;
    hf_family_list(true, list, sizeof list);
    return error_set(err, TD_UNSUPPORTED,
                     "the names that PEFT has for '%s' are not known; known are %s",
                     model->architecture->name, list);
}

/* --- to PEFT --- */

struct writing {
    const struct td_model *model;
    const struct hf_family *family;
    const struct gguf *gguf;
    struct json *header, *modules, *ranks;
    struct buf data;
    struct lora_peft_result *result;
};

static void put_tensor(struct writing *writing, const char *name, const float *values, size_t rows,
                       size_t cols)
{
    struct json *entry = json_new_object(), *shape = json_new_array(), *at = json_new_array();
    size_t begin = writing->data.len;
    buf_append(&writing->data, values, rows * cols * sizeof *values);
    json_push(shape, json_new_int((int64_t)rows));
    json_push(shape, json_new_int((int64_t)cols));
    json_push(at, json_new_int((int64_t)begin));
    json_push(at, json_new_int((int64_t)writing->data.len));
    json_put(entry, "dtype", json_new_cstr("F32"));
    json_put(entry, "shape", shape);
    json_put(entry, "data_offsets", at);
    json_put(writing->header, name, entry);
}

/* "q_proj" of "model.layers.0.self_attn.q_proj", once. */
static void note_module(struct writing *writing, const char *theirs)
{
    const char *last = strrchr(theirs, '.') ? strrchr(theirs, '.') + 1 : theirs;
    for (size_t i = 0; i < json_count(writing->modules); i++)
        if (str_equal(json_text(json_at(writing->modules, i)), str_from(last)))
            return;
    json_push(writing->modules, json_new_cstr(last));
}

static enum td_status put_pair(struct writing *writing, const struct gguf_tensor *a,
                               struct td_error *err)
{
    char theirs[NAME_BYTES], name[2 * NAME_BYTES];
    struct td_str stem = str_slice(a->name, 0, a->name.len - 7);
    snprintf(name, sizeof name, STR_FMT ".lora_b", STR_ARG(stem));
    const struct gguf_tensor *b = gguf_find_tensor(writing->gguf, name);
    if (a->dims[2] > 1 || !b || !str_ends_with(stem, STR(".weight")) ||
        !hf_name_theirs(writing->family, str_slice(stem, 0, stem.len - 7), theirs, sizeof theirs) ||
        str_equal(stem, STR("token_embd.weight")))
        return error_set(err, TD_UNSUPPORTED, "%s: '" STR_FMT "' has no name in PEFT's form",
                         gguf_path(writing->gguf), STR_ARG(stem));
    size_t rank = (size_t)b->dims[0], rows = (size_t)b->dims[1];
    float *of_a = encode_to_floats(a), *of_b = encode_to_floats(b),
          *turned = calloc(rows * rank + 1, 4);
    bool turn = is_turned(writing->model, writing->family, stem);
    for (size_t r = 0; of_b && turned && r < rows; r++)
        memcpy(turned + (turn ? hf_from_halves(r, writing->model->head_size) : r) * rank,
               of_b + r * rank, rank * sizeof *of_b);
    snprintf(name, sizeof name, BEGIN "%s.lora_A.weight", theirs);
    if (of_a)
        put_tensor(writing, name, of_a, rank, (size_t)a->dims[0]);
    snprintf(name, sizeof name, BEGIN "%s.lora_B.weight", theirs);
    if (of_b && turned)
        put_tensor(writing, name, turned, rows, rank);
    bool ok = of_a && of_b && turned;
    free(of_a);
    free(of_b);
    free(turned);
    note_module(writing, theirs);
    json_put(writing->ranks, theirs, json_new_int((int64_t)rank));
    writing->result->matrices++;
    if (rank > writing->result->rank_max)
        writing->result->rank_max = (uint32_t)rank;
    return ok ? TD_OK : error_set(err, TD_NO_MEMORY, "%s: no memory", gguf_path(writing->gguf));
}

/* Without alpha the scale is the whole factor: PEFT's alpha / rank must then be 1. */
static enum td_status write_config(const struct writing *writing, const char *folder,
                                   struct td_error *err)
{
    char path[PATH_BYTES];
    struct buf text;
    struct json *config = json_new_object();
    float alpha = writing->result->alpha;
    json_put(config, "peft_type", json_new_cstr("LORA"));
    json_put(config, "task_type", json_new_cstr("CAUSAL_LM"));
    json_put(config, "base_model_name_or_path", json_new_cstr(writing->model->info.name));
    json_put(config, "r", json_new_int(writing->result->rank_max));
    json_put(config, "lora_alpha",
             json_new_double(alpha > 0 ? (double)alpha : (double)writing->result->rank_max));
    json_put(config, "lora_dropout", json_new_double(0));
    json_put(config, "bias", json_new_cstr("none"));
    json_put(config, "fan_in_fan_out", json_new_bool(false));
    json_put(config, "target_modules", json_clone(writing->modules));
    json_put(config, "rank_pattern", json_clone(writing->ranks));
    json_put(config, "alpha_pattern", alpha > 0 ? json_new_object() : json_clone(writing->ranks));
    buf_init(&text, CONFIG_BYTES_MAX);
    json_write(config, &text);
    json_free(config);
    enum td_status status = path_join(path, sizeof path, folder, "adapter_config.json", err);
    if (status == TD_OK)
        status = text.failed ? error_set(err, TD_LIMIT, "%s would be too large", path)
                             : file_replace(path, buf_view(&text), 0644, err);
    buf_deinit(&text);
    return status;
}

/* 8 bytes: the length of the header; the header, filled up with spaces; the data. */
static enum td_status write_tensors(const struct writing *writing, const char *folder,
                                    struct td_error *err)
{
    char path[PATH_BYTES];
    struct buf text, file;
    buf_init(&text, HEADER_BYTES_MAX);
    buf_init(&file, DATA_BYTES_MAX + HEADER_BYTES_MAX);
    json_write(writing->header, &text);
    while (!text.failed && text.len % 8)
        buf_append_char(&text, ' ');
    uint64_t len = text.len;
    buf_append(&file, &len, sizeof len); /* little-endian, as all that we run on */
    buf_append_str(&file, buf_view(&text));
    buf_append_str(&file, buf_view(&writing->data));
    enum td_status status = path_join(path, sizeof path, folder, "adapter_model.safetensors", err);
    if (status == TD_OK)
        status = text.failed || file.failed || writing->data.failed
                     ? error_set(err, TD_LIMIT, "%s would be too large, or memory ended", path)
                     : file_replace(path, buf_view(&file), 0644, err);
    buf_deinit(&text);
    buf_deinit(&file);
    return status;
}

enum td_status lora_to_peft(const struct td_model *model, const char *adapter, const char *folder,
                            struct lora_peft_result *result, struct td_error *err)
{
    struct td_adapter *checked = NULL;
    struct gguf *gguf = NULL;
    struct writing writing = {.model = model, .result = result};
    *result = (struct lora_peft_result){0};
    enum td_status status = family_of(model, &writing.family, err);
    if (status == TD_OK)
        status = td_adapter_load(model, adapter, &checked, err);
    if (status == TD_OK)
        status = gguf_open(adapter, false, &gguf, err);
    buf_init(&writing.data, DATA_BYTES_MAX);
    writing.gguf = gguf;
    writing.header = json_new_object();
    writing.modules = json_new_array();
    writing.ranks = json_new_object();
    if (status == TD_OK)
        result->alpha = td_adapter_get_info(checked)->alpha;
    for (size_t i = 0; status == TD_OK && i < gguf_tensor_count(gguf); i++)
        if (str_ends_with(gguf_tensor_at(gguf, i)->name, STR(".lora_a")))
            status = put_pair(&writing, gguf_tensor_at(gguf, i), err);
    if (status == TD_OK && mkdir(folder, 0777) != 0 && errno != EEXIST)
        status = error_set(err, TD_IO, "%s: %s", folder, strerror(errno));
    if (status == TD_OK)
        status = write_tensors(&writing, folder, err);
    if (status == TD_OK)
        status = write_config(&writing, folder, err);
    json_free(writing.header);
    json_free(writing.modules);
    json_free(writing.ranks);
    buf_deinit(&writing.data);
    gguf_close(gguf);
    td_adapter_free(checked);
    return status;
}

/* --- from PEFT --- */

struct half {
    const struct safetensor *from;
    char name[NAME_BYTES];
    bool turned;
};

static enum td_status read_config(const char *folder, float *alpha, bool *by_root,
                                  struct td_error *err)
{
    char path[PATH_BYTES];
    struct buf text;
    struct json *config = NULL;
    buf_init(&text, CONFIG_BYTES_MAX);
    enum td_status status = path_join(path, sizeof path, folder, "adapter_config.json", err);
    if (status == TD_OK)
        status = buf_read_file(&text, path, err);
    if (status == TD_OK)
        status = json_parse(buf_view(&text), &config, err);
    *alpha = (float)json_number(json_get(config, "lora_alpha"), 0);
    *by_root = json_bool(json_get(config, "use_rslora"), false);
    if (status == TD_OK && (json_bool(json_get(config, "use_dora"), false) ||
                            json_bool(json_get(config, "fan_in_fan_out"), false) ||
                            json_count(json_get(config, "alpha_pattern"))))
        status =
            error_set(err, TD_UNSUPPORTED,
                      "%s: use_dora, fan_in_fan_out and alpha_pattern have no place in GGUF", path);
    if (status == TD_OK && !(*alpha > 0 && *alpha <= 1e6f))
        status = error_set(err, TD_CORRUPT, "%s: lora_alpha is no number above 0", path);
    json_free(config);
    buf_deinit(&text);
    return status;
}

/* "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight" and the forms in which the name
 * of the adapter stands before ".weight". */
static enum td_status read_half(const struct td_model *model, const struct hf_family *family,
                                const struct safetensor *tensor, struct half *out,
                                struct td_error *err)
{
    static const char *const marks[] = {".lora_A.", ".lora_B."};
    struct td_str name = str_from(tensor->name);
    char ours[65];
    for (size_t i = 0; i < 2; i++) {
        size_t at = str_find(name, str_from(marks[i]), 0);
        if (at == SIZE_MAX || !str_starts_with(name, STR(BEGIN)) || tensor->dim_count != 2 ||
            !safetensor_is_float(tensor) ||
            !hf_name_ours(family, str_slice(name, sizeof BEGIN - 1, at), ours))
            continue;
        snprintf(out->name, sizeof out->name, "%s.lora_%c", ours, i ? 'b' : 'a');
        out->from = tensor;
        out->turned = i && is_turned(model, family, str_from(ours));
        return out->turned && tensor->dims[0] % model->head_size
                   ? error_set(err, TD_INVALID, "'%.200s' does not fit heads of %u", tensor->name,
                               model->head_size)
                   : TD_OK;
    }
    return error_set(err, TD_UNSUPPORTED, "'%.200s' is no half of a LoRA adapter of %s",
                     tensor->name, family->model_type);
}

static enum td_status append_half(const struct td_model *model, const struct half *half,
                                  struct gguf_writer *writer, struct td_error *err)
{
    size_t rows = (size_t)half->from->dims[0], cols = (size_t)half->from->dims[1];
    float *row = malloc((cols + 1) * sizeof *row);
    enum td_status status =
        row ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a row of %zu", cols);
    for (size_t r = 0; status == TD_OK && r < rows; r++) {
        uint64_t from = half->turned ? hf_from_halves(r, model->head_size) : r;
        safetensor_read(half->from, from * cols, cols, row);
        status = gguf_writer_append(writer, row, cols * sizeof *row, err);
    }
    free(row);
    return status;
}

static enum td_status write_gguf(const struct td_model *model, const struct half *halves,
                                 size_t count, const char *path,
                                 const struct lora_peft_result *result, struct td_error *err)
{
    struct gguf_write_tensor *tensors = calloc(count + 1, sizeof *tensors);
    struct gguf_writer *writer = NULL;
    struct buf pairs;
    if (!tensors)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu tensors", count);
    for (size_t i = 0; i < count; i++)
        tensors[i] =
            (struct gguf_write_tensor){str_from(halves[i].name),
                                       TENSOR_F32,
                                       2,
                                       {halves[i].from->dims[1], halves[i].from->dims[0], 1, 1}};
    buf_init(&pairs, GGUF_HEAD_BYTES_MAX);
    gguf_put_string(&pairs, "general.type", STR("adapter"));
    gguf_put_string(&pairs, "general.architecture", str_from(model->architecture->name));
    gguf_put_string(&pairs, "adapter.type", STR("lora"));
    gguf_put_f32(&pairs, "adapter.lora.alpha", result->alpha);
    const struct gguf_head head = {&pairs, 4, tensors, count, 0};
    enum td_status status = gguf_writer_new(path, &head, &writer, err);
    for (size_t i = 0; status == TD_OK && i < count; i++)
        status = append_half(model, &halves[i], writer, err);
    if (status == TD_OK)
        status = gguf_writer_finish(writer, err);
    gguf_writer_free(writer);
    buf_deinit(&pairs);
    free(tensors);
    return status;
}

/* With rsLoRA the factor is alpha / sqrt(rank): the same as alpha * sqrt(rank) / rank. */
static enum td_status settle_alpha(struct lora_peft_result *result, bool by_root,
                                   uint32_t rank_least, struct td_error *err)
{
    if (by_root && rank_least != result->rank_max)
        return error_set(err, TD_UNSUPPORTED, "use_rslora with ranks that differ");
    if (by_root)
        result->alpha *= sqrtf((float)result->rank_max);
    return TD_OK;
}

/* The file gets its name only when it fits the model, so that one of that name is not lost. */
static enum td_status write_checked(const struct td_model *model, const struct half *halves,
                                    size_t count, const char *adapter,
                                    struct lora_peft_result *result, struct td_error *err)
{
    char path[PATH_BYTES];
    struct td_adapter *checked = NULL;
    if (snprintf(path, sizeof path, "%s.try", adapter) >= (int)sizeof path)
        return error_set(err, TD_INVALID, "the name of the file is too long");
    enum td_status status = write_gguf(model, halves, count, path, result, err);
    if (status != TD_OK)
        return status;
    status = td_adapter_load(model, path, &checked, err);
    td_adapter_free(checked);
    if (status == TD_OK && rename(path, adapter) != 0)
        status = error_set(err, TD_IO, "%s: %s", adapter, strerror(errno));
    if (status != TD_OK)
        unlink(path);
    return status;
}

enum td_status lora_from_peft(const struct td_model *model, const char *folder, const char *adapter,
                              struct lora_peft_result *result, struct td_error *err)
{
    char path[PATH_BYTES];
    struct safetensors *files = NULL;
    const struct hf_family *family;
    bool by_root = false;
    uint32_t least = UINT32_MAX;
    *result = (struct lora_peft_result){0};
    enum td_status status = family_of(model, &family, err);
    if (status == TD_OK)
        status = read_config(folder, &result->alpha, &by_root, err);
    if (status == TD_OK)
        status = path_join(path, sizeof path, folder, "adapter_model.safetensors", err);
    if (status == TD_OK)
        status = safetensors_open_file(path, &files, err);
    size_t count = files ? safetensors_count(files) : 0;
    struct half *halves = calloc(count + 1, sizeof *halves);
    if (status == TD_OK && !halves)
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu tensors", count);
    for (size_t i = 0; status == TD_OK && i < count; i++) {
        const struct safetensor *tensor = safetensors_at(files, i);
        status = read_half(model, family, tensor, &halves[i], err);
        if (status != TD_OK || !str_ends_with(str_from(halves[i].name), STR("a")))
            continue;
        uint32_t rank = (uint32_t)tensor->dims[0];
        result->matrices++;
        result->rank_max = rank > result->rank_max ? rank : result->rank_max;
        least = rank < least ? rank : least;
    }
    if (status == TD_OK)
        status = settle_alpha(result, by_root, least, err);
    if (status == TD_OK)
        status = write_checked(model, halves, count, adapter, result, err);
    free(halves);
    safetensors_close(files);
    return status;
}
