#include "tier/cards/model_listed.h"

#include "base/core/str.h"
#include "tier/cards/model_cards.h"

#include <math.h>

/* More than any model has, and within 32 bits. */
#define TOKENS_MAX 1000000000
#define USD_MAX 100000.0

const struct json *model_listed_rows(const struct json *root)
{
    const struct json *rows = json_get(root, "data");
    if (!rows)
        rows = json_get(root, "models");                /* Google */
    if (!rows && json_kind_of(root) == JSON_KIND_ARRAY) /* Together */
        rows = root;
    return json_kind_of(rows) == JSON_KIND_ARRAY ? rows : NULL;
}

/* Google writes models/NAME. */
struct td_str model_listed_name(const struct json *row)
{
    struct td_str name = json_text(json_get(row, "name"));
    if (json_get(row, "id"))
        return json_text(json_get(row, "id"));
    return str_starts_with(name, STR("models/")) ? str_slice(name, 7, name.len) : name;
}

static void take_tokens(const struct json *from, const char *name, uint32_t *out)
{
    int64_t count = json_int(json_get(from, name), 0);
    if (*out == 0 && count > 0 && count <= TOKENS_MAX)
        *out = (uint32_t)count;
}

/* A number, or a text of one. */
static double number_of(const struct json *value)
{
    double number = json_number(value, (double)NAN);
    if (json_kind_of(value) == JSON_KIND_TEXT && !str_to_double(json_text(value), &number))
        return (double)NAN;
    return number;
}

/* times: from the list's unit to a million tokens. OpenRouter writes -1 for what depends. */
static void take_price(const struct json *pricing, const char *name, double times, double *out)
{
    double usd = number_of(json_get(pricing, name)) * times;
    if (isnan(*out) && usd >= 0 && usd <= USD_MAX)
        *out = usd;
}

static void say(struct model_listed *listed, unsigned ability, bool has)
{
    listed->said |= ability;
    if (has)
        listed->abilities |= ability;
}

static bool has_text(const struct json *list, const char *text)
{
    for (size_t i = 0; i < json_count(list); i++)
        if (str_equal(json_text(json_at(list, i)), str_from(text)))
            return true;
    return false;
}

/* OpenRouter, and this program's own list. */
static void read_parameters(const struct json *row, struct model_listed *out)
{
    const struct json *inputs = json_get(json_get(row, "architecture"), "input_modalities");
    const struct json *parameters = json_get(row, "supported_parameters");
    if (json_count(inputs) > 0) {
        say(out, CARD_IMAGE, has_text(inputs, "image"));
        say(out, CARD_AUDIO, has_text(inputs, "audio"));
        say(out, CARD_FILE, has_text(inputs, "file"));
    }
    if (json_count(parameters) == 0)
        return;
    say(out, CARD_TOOLS, has_text(parameters, "tools"));
    say(out, CARD_SCHEMA, has_text(parameters, "structured_outputs"));
    say(out, CARD_LOGPROBS, has_text(parameters, "logprobs"));
    if (has_text(parameters, "reasoning"))
        say(out, CARD_REASONING, true);
}

/* Mistral: {"function_calling": true, "vision": false, ...} */
static void read_capabilities(const struct json *able, struct model_listed *out)
{
    static const struct {
        const char *name;
        unsigned ability;
    } rows[] = {{"function_calling", CARD_TOOLS},
                {"vision", CARD_IMAGE},
                {"audio", CARD_AUDIO},
                {"reasoning", CARD_REASONING}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (json_kind_of(json_get(able, rows[i].name)) == JSON_KIND_BOOL)
            say(out, rows[i].ability, json_bool(json_get(able, rows[i].name), false));
}

static void read_row(const struct json *row, struct model_listed *out)
{
    static const char *const contexts[] = {"context_length", "context_window", "max_context_length",
                                           "max_model_len", "inputTokenLimit"};
    const struct json *pricing = json_get(row, "pricing");
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        take_tokens(row, contexts[i], &out->context_tokens);
    take_tokens(json_get(row, "meta"), "n_ctx_train", &out->context_tokens); /* llama-server */
    take_tokens(json_get(row, "top_provider"), "max_completion_tokens", &out->output_tokens);
    take_tokens(row, "max_completion_tokens", &out->output_tokens); /* Groq */
    take_tokens(row, "outputTokenLimit", &out->output_tokens);
    take_price(pricing, "prompt", 1e6, &out->input_usd); /* OpenRouter: of one token */
    take_price(pricing, "completion", 1e6, &out->output_usd);
    take_price(pricing, "input", 1, &out->input_usd); /* Together: of a million */
    take_price(pricing, "output", 1, &out->output_usd);
    read_parameters(row, out);
    read_capabilities(json_get(row, "capabilities"), out);
    if (json_kind_of(json_get(row, "thinking")) == JSON_KIND_BOOL) /* Google */
        say(out, CARD_REASONING, json_bool(json_get(row, "thinking"), false));
}

struct model_listed model_listed_read(const struct json *root, const char *model)
{
    struct model_listed out = {.input_usd = (double)NAN, .output_usd = (double)NAN};
    const struct json *rows = model_listed_rows(root);
    for (size_t i = 0; i < json_count(rows) && !out.found; i++) {
        out.found = str_equal(model_listed_name(json_at(rows, i)), str_from(model));
        if (out.found)
            read_row(json_at(rows, i), &out);
    }
    return out;
}
