/* The public calls on a model: open, describe, tokenize, render. The work is done in gguf.c,
 * model.c, tokenizer.c, jinja.c and template.c; this file puts them together. */
#include "tandem/engine.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/model/heads.h"
#include "engine/model/memory.h"
#include "engine/model/model_keys.h"
#include "engine/sampling/recommended_sampling.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a rendered prompt or its ids. Larger ones fit no context that this engine opens. */
#define PROMPT_BYTES_MAX ((size_t)64 << 20)
/* Limits of a calibration. Beyond them every confidence gives the same probability. */
#define TEMPERATURE_MIN 0.01f
#define TEMPERATURE_MAX 100.0f
#define BIAS_MAX 100.0f

static char *copy_printable(struct td_str text)
{
    char *copy = malloc(text.len + 1);
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < text.len; i++)
        copy[i] = (unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f ? '?' : text.data[i];
    copy[text.len] = '\0';
    return copy;
}

/* general.name, or the file's base name without ".gguf". */
static char *model_name(const struct gguf *gguf)
{
    struct td_str name;
    if (gguf_get_string(gguf, "general.name", &name) && name.len > 0)
        return copy_printable(str_slice(name, 0, 256));
    const char *slash = strrchr(gguf_path(gguf), '/');
    name = str_from(slash ? slash + 1 : gguf_path(gguf));
    if (str_ends_with(name, STR(".gguf")))
        name.len -= 5;
    return copy_printable(name);
}

/* The type that holds most of the weight bytes. */
static const char *main_type(const struct gguf *gguf)
{
    uint64_t bytes[TENSOR_TYPE_COUNT] = {0};
    uint32_t best = 0;
    for (size_t i = 0; i < gguf_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        if (tensor->type >= TENSOR_TYPE_COUNT)
            continue;
        bytes[tensor->type] += tensor->bytes;
        if (bytes[tensor->type] > bytes[best])
            best = tensor->type;
    }
    const struct tensor_traits *traits = tensor_traits_get(best);
    return bytes[best] > 0 && traits ? traits->name : "";
}

static uint64_t count_parameters(const struct gguf *gguf)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < gguf_tensor_count(gguf); i++) {
        const uint64_t *dims = gguf_tensor_at(gguf, i)->dims;
        sum += dims[0] * dims[1] * dims[2] * dims[3];
    }
    return sum;
}

/* The maker of the file fitted it to held-out answers (docs/heads.md). kind: "", "call." or
 * "label."; *out stays as it is where the file has no key of that kind. */
static enum td_status take_calibration(const struct td_model *model, const char *kind,
                                       struct td_calibration *out, struct td_error *err)
{
    const struct gguf *gguf = model->gguf;
    char temperature[48], bias[48];
    struct td_calibration found = {0};
    snprintf(temperature, sizeof temperature, "tandem.calibration.%stemperature", kind);
    snprintf(bias, sizeof bias, "tandem.calibration.%sbias", kind);
    if (gguf_has(gguf, temperature) &&
        (!gguf_get_f32(gguf, temperature, &found.temperature) ||
         !(found.temperature >= TEMPERATURE_MIN && found.temperature <= TEMPERATURE_MAX)))
        return model_fail(model, err, TD_CORRUPT, "%s: not a number from 0.01 to 100", temperature);
    if (gguf_has(gguf, bias) && (!gguf_get_f32(gguf, bias, &found.bias) ||
                                 !(found.bias >= -BIAS_MAX && found.bias <= BIAS_MAX)))
        return model_fail(model, err, TD_CORRUPT, "%s: not a number from -100 to 100", bias);
    if (gguf_has(gguf, temperature) || gguf_has(gguf, bias))
        *out = found;
    return TD_OK;
}

static enum td_status take_calibrations(const struct td_model *model, struct td_model_info *info,
                                        struct td_error *err)
{
    enum td_status status = take_calibration(model, "", &info->calibration, err);
    info->call_calibration = info->label_calibration = info->calibration;
    if (status == TD_OK)
        status = take_calibration(model, "call.", &info->call_calibration, err);
    return status == TD_OK ? take_calibration(model, "label.", &info->label_calibration, err)
                           : status;
}

static enum td_status fill_info(struct td_model *model, struct td_error *err)
{
    const struct gguf *gguf = model->gguf;
    uint32_t not_mine;
    struct td_model_info *info = &model->info;
    model->name = model_name(gguf);
    if (model->name == NULL)
        return model_fail(model, err, TD_NO_MEMORY, "no memory");
    snprintf(model->fingerprint, sizeof model->fingerprint, "%016" PRIx64, gguf_fingerprint(gguf));
    *info = (struct td_model_info){
        .architecture = model->architecture ? model->architecture->name : "",
        .name = model->name,
        .quantization = main_type(gguf),
        .file_bytes = gguf_file_bytes(gguf),
        .parameter_count = count_parameters(gguf),
        .context_tokens = model->context_size,
        .vocab_count = model->vocab_count,
        .layer_count = model->layer_count,
        .embedding_size = model->embedding_size,
        .bos_id = tokenizer_bos(model->tokenizer),
        .eos_id = tokenizer_eos(model->tokenizer),
        .not_mine_id = -1,
        .chat_family = template_family_name(model->family),
        .chat_renderer = model->jinja ? "jinja" : "family",
        .fingerprint = model->fingerprint,
        .exit_count = model->heads ? model->heads->exit_count : 0,
        .has_probe = model->heads && model->heads->probe.stage_count > 0,
    };
    enum td_status status = take_calibrations(model, info, err);
    if (status == TD_OK)
        status = recommended_sampling_read(gguf, &info->sampling, err);
    if (status != TD_OK || !gguf_has(gguf, "tandem.not_mine_token_id"))
        return status;
    if (!gguf_get_u32(gguf, "tandem.not_mine_token_id", &not_mine) ||
        not_mine >= model->vocab_count)
        return model_fail(model, err, TD_CORRUPT,
                          "tandem.not_mine_token_id is not a token of the vocabulary");
    info->not_mine_id = (int32_t)not_mine;
    return TD_OK;
}

static enum td_status find_architecture(struct td_model *model, struct td_error *err)
{
    struct td_str name;
    bool named = gguf_get_string(model->gguf, "general.architecture", &name);
    model->architecture = named ? architecture_find(name) : NULL;
    if (model->architecture || model->vocab_only)
        return TD_OK;
    if (!named)
        return model_fail(model, err, TD_CORRUPT,
                          "general.architecture is missing or not a string");
    char list[500];
    architecture_list(list, sizeof list);
    return model_fail(model, err, TD_UNSUPPORTED,
                      "general.architecture '" STR_FMT "'; supported: %s",
                      STR_ARG(str_slice(name, 0, 64)), list);
}

/* Takes the file's own template if the interpreter can run it. The family renders messages that the
 * template refuses. */
static void find_template(struct td_model *model)
{
    struct td_str text;
    if (!gguf_get_string(model->gguf, "tokenizer.chat_template", &text)) {
        model->family = template_recognise_tokens(model->tokenizer);
        return;
    }
    model->family = template_recognise(text);
    if (jinja_open(text, &model->jinja, NULL) != TD_OK)
        model->jinja = NULL;
}

static enum td_status open_parts(struct td_model *model, const char *path,
                                 const struct td_model_options *options, struct td_error *err)
{
    model->vocab_only = options->vocab_only;
    model->kernels = kernels_get(options->cpu, err);
    if (model->kernels == NULL)
        return error_set(err, TD_UNSUPPORTED, "this CPU lacks the kernels asked for");
    enum td_status status = gguf_open(path, options->vocab_only, &model->gguf, err);
    if (status == TD_OK && !model->vocab_only)
        status = memory_check_weights(path, gguf_file_bytes(model->gguf), 0, err);
    if (status == TD_OK)
        status = find_architecture(model, err);
    if (status == TD_OK)
        status = tokenizer_open(model->gguf, &model->tokenizer, err);
    if (status != TD_OK)
        return status;
    model->vocab_count = tokenizer_count(model->tokenizer);
    if (model->architecture && !model->vocab_only)
        status = model_load(model, err);
    else if (model->architecture)
        status = model_load_hyperparameters(model, err);
    if (status != TD_OK)
        return status;
    find_template(model);
    return fill_info(model, err);
}

enum td_status td_model_open(const char *path, const struct td_model_options *options,
                             struct td_model **out, struct td_error *err)
{
    ASSERT(path != NULL && out != NULL);
    static const struct td_model_options defaults = {.cpu = TD_CPU_AUTO};
    *out = NULL;
    struct td_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return error_set(err, TD_NO_MEMORY, "%s: no memory", path);
    model->token_index = calloc(1, sizeof *model->token_index);
    model->weight_users = calloc(1, sizeof *model->weight_users);
    enum td_status status = model->token_index && model->weight_users
                                ? open_parts(model, path, options ? options : &defaults, err)
                                : error_set(err, TD_NO_MEMORY, "%s: no memory", path);
    if (status != TD_OK) {
        td_model_close(model);
        return status;
    }
    *out = model;
    return TD_OK;
}

void td_model_close(struct td_model *model)
{
    if (model == NULL)
        return;
    if (model->token_index)
        token_index_free(atomic_load(&model->token_index->index));
    free(model->token_index);
    free(model->weight_users);
    free(model->layers);
    free(model->norms);
    free(model->encoder);
    free(model->matrices);
    heads_free(model->heads);
    free(model->name);
    jinja_close(model->jinja);
    tokenizer_close(model->tokenizer);
    gguf_close(model->gguf);
    free(model);
}

const struct td_model_info *td_model_get_info(const struct td_model *model)
{
    return &model->info;
}

struct td_str td_token_piece(const struct td_model *model, int32_t id, bool special)
{
    ASSERT(model != NULL);
    if (id < 0 || (uint32_t)id >= model->vocab_count)
        return (struct td_str){NULL, 0};
    return tokenizer_piece(model->tokenizer, id, special);
}

enum td_status td_tokenize(const struct td_model *model, struct td_str text, bool add_bos,
                           bool parse_special, int32_t *ids, size_t capacity, size_t *count,
                           struct td_error *err)
{
    ASSERT(model != NULL && count != NULL);
    ASSERT(ids != NULL || capacity == 0);
    ASSERT(text.data != NULL || text.len == 0);
    struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    struct tokenizer_options options = {.add_special = add_bos, .parse_special = parse_special};
    enum td_status status = tokenizer_encode(model->tokenizer, text, &options, &out, err);
    *count = status == TD_OK ? out.len / sizeof *ids : 0;
    if (status == TD_OK && *count > capacity)
        status = error_set(err, TD_LIMIT, "the text has %zu tokens, there is room for %zu", *count,
                           capacity);
    else if (status == TD_OK && *count > 0)
        memcpy(ids, out.data, *count * sizeof *ids);
    buf_deinit(&out);
    return status;
}

static struct td_str special_text(const struct td_model *model, int32_t id)
{
    return id < 0 ? STR("") : tokenizer_piece(model->tokenizer, id, true);
}

/* Removes the BOS that a template wrote first, because the tokenizer adds it. */
static void drop_bos(struct template_output *out, struct td_str bos)
{
    struct text_segment *segments = (void *)out->segments.data;
    size_t count = out->segments.len / sizeof *segments;
    if (bos.len == 0 || count == 0 || !segments[0].mark || segments[0].end < bos.len ||
        !str_starts_with(buf_view(&out->text), bos))
        return;
    buf_consume(&out->text, bos.len);
    for (size_t i = 0; i < count; i++) {
        segments[i].begin -= i > 0 ? bos.len : 0;
        segments[i].end -= bos.len;
    }
    if (segments[0].end == 0)
        buf_consume(&out->segments, sizeof *segments);
}

/* Renders with the file's own template, which must exist. */
static enum td_status render_input(const struct td_model *model, struct jinja_input input,
                                   struct template_output *out, struct td_error *err)
{
    input.bos_token = special_text(model, tokenizer_bos(model->tokenizer));
    input.eos_token = special_text(model, tokenizer_eos(model->tokenizer));
    enum td_status status = jinja_render(model->jinja, &input, out, err);
    if (status == TD_OK && tokenizer_adds_bos(model->tokenizer))
        drop_bos(out, input.bos_token);
    return status;
}

static enum td_status render_own(const struct td_model *model, const struct td_message *messages,
                                 size_t message_count, struct template_output *out,
                                 struct td_error *err)
{
    struct jinja_input input = {
        .messages = messages, .message_count = message_count, .add_generation = true};
    return render_input(model, input, out, err);
}

/* Renders with the file's own template. If it refuses the messages, or the interpreter cannot run
 * it, the family renders them if it can: Gemma's template refuses system messages, its family does
 * not. If the family is not known, the refusal stands, because the model was never trained on plain
 * lines. */
static enum td_status render(const struct td_model *model, const struct td_message *messages,
                             size_t message_count, struct template_output *out,
                             struct td_error *err)
{
    enum td_status own = TD_UNSUPPORTED;
    struct td_error refusal = {0};
    template_output_init(out, PROMPT_BYTES_MAX);
    if (model->jinja)
        own = render_own(model, messages, message_count, out, &refusal);
    if (own == TD_OK)
        return own;
    if (own == TD_INVALID && model->family == TEMPLATE_NONE)
        return error_set(err, own, "%s", refusal.message);
    buf_clear(&out->text);
    buf_clear(&out->segments);
    enum td_status status = template_render(model->family, messages, message_count, true, out, err);
    if (status == TD_OK && (out->text.failed || out->segments.failed))
        status = error_set(err, TD_LIMIT, "the rendered prompt is longer than %zu bytes",
                           PROMPT_BYTES_MAX);
    return status;
}

enum td_status td_template_render(const struct td_model *model, const struct td_message *messages,
                                  size_t message_count, char **out, size_t *out_len,
                                  struct td_error *err)
{
    ASSERT(model != NULL && out != NULL && out_len != NULL);
    struct template_output rendered;
    *out = NULL;
    *out_len = 0;
    enum td_status status = render(model, messages, message_count, &rendered, err);
    if (status == TD_OK) {
        *out_len = rendered.text.len;
        *out = *out_len ? buf_take(&rendered.text) : calloc(1, 1); /* an empty text gives "" */
        if (*out == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for the rendered prompt");
    }
    template_output_deinit(&rendered);
    return status;
}

/* Tokenizes the rendered text as one. BOS comes once; marks may become control tokens, text of
 * messages never does. */
static enum td_status encode_segments(const struct td_model *model,
                                      const struct template_output *rendered, struct buf *ids,
                                      struct td_error *err)
{
    const struct text_segment *segments = (const void *)rendered->segments.data;
    size_t segment_count = rendered->segments.len / sizeof *segments;
    return tokenizer_encode_segments(model->tokenizer, buf_view(&rendered->text), segments,
                                     segment_count, true, ids, err);
}

/* When status is TD_OK it **takes** *rendered: it calls template_output_deinit. */
static enum td_status give_ids(const struct td_model *model, enum td_status status,
                               struct template_output *rendered, int32_t **ids, size_t *count,
                               struct td_error *err)
{
    struct buf out;
    *ids = NULL;
    *count = 0;
    buf_init(&out, PROMPT_BYTES_MAX);
    if (status == TD_OK)
        status = encode_segments(model, rendered, &out, err);
    if (status == TD_OK && out.len > 0) {
        *count = out.len / sizeof **ids;
        *ids = (int32_t *)(void *)buf_take(&out);
        if (*ids == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for the prompt's tokens");
    } else if (status == TD_OK) {
        status = error_set(err, TD_INVALID, "the prompt is empty");
    }
    template_output_deinit(rendered);
    buf_deinit(&out);
    return status;
}

enum td_status td_chat_tokenize(const struct td_model *model, const struct td_message *messages,
                                size_t message_count, int32_t **ids, size_t *count,
                                struct td_error *err)
{
    ASSERT(model != NULL && ids != NULL && count != NULL);
    struct template_output rendered;
    enum td_status status = render(model, messages, message_count, &rendered, err);
    return give_ids(model, status, &rendered, ids, count, err);
}

enum td_status model_tokenize_chat(const struct td_model *model, const struct jinja_input *input,
                                   int32_t **ids, size_t *count, struct td_error *err)
{
    ASSERT(model->jinja != NULL);
    struct template_output rendered;
    template_output_init(&rendered, PROMPT_BYTES_MAX);
    enum td_status status = render_input(model, *input, &rendered, err);
    return give_ids(model, status, &rendered, ids, count, err);
}
