#include "api/dialects/llama/llama_tokens.h"

#include "api/dialects/chat_build.h"
#include "api/wire/token_ids.h"
#include "base/core/str.h"

#include <stdlib.h>

#define NOTED "prompt_tokens"
#define TEXT_BYTES_MAX ((size_t)64 << 20)

struct tokens {
    const struct td_model *model;
    struct json *ids;
    struct buf text;
    struct fault *fault;
};

static bool has_ids(const struct json *prompt)
{
    for (size_t i = 0; json_kind_of(prompt) == JSON_KIND_ARRAY && i < json_count(prompt); i++)
        if (json_kind_of(json_at(prompt, i)) == JSON_KIND_INT)
            return true;
    return false;
}

static bool add_id(struct tokens *tokens, const struct json *prompt, size_t index)
{
    int32_t id;
    if (!token_id_read(prompt, index, "prompt", tokens->model, &id, tokens->fault))
        return false;
    buf_append_str(&tokens->text, td_token_piece(tokens->model, id, true));
    json_push(tokens->ids, json_new_int(id));
    return true;
}

/* As llama-server does, only what begins the prompt gets what begins a text. */
static bool add_text(struct tokens *tokens, struct td_str text, bool first, const char *place)
{
    struct td_error err = {0};
    size_t count = 0;
    int32_t *ids = calloc(text.len + 2, sizeof *ids);
    enum td_status status = TD_NO_MEMORY;
    if (ids)
        status = td_tokenize(tokens->model, text, first, true, ids, text.len + 2, &count, &err);
    for (size_t i = 0; status == TD_OK && i < count; i++)
        json_push(tokens->ids, json_new_int(ids[i]));
    free(ids);
    buf_append_str(&tokens->text, text);
    if (status == TD_OK)
        return true;
    fault_from_status(tokens->fault, status, err.message, place);
    return false;
}

static bool add_all(struct tokens *tokens, const struct json *prompt)
{
    for (size_t i = 0; i < json_count(prompt); i++) {
        const struct json *item = json_at(prompt, i);
        char place[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(place, "prompt[%zu]", i);
        enum json_kind kind = json_kind_of(item);
        if (kind != JSON_KIND_INT && kind != JSON_KIND_TEXT)
            return fault_request(tokens->fault, place, "%s must be a token id or a text, not %s",
                                 place, json_kind_name(kind));
        if (kind == JSON_KIND_INT ? !add_id(tokens, prompt, i)
                                  : !add_text(tokens, json_text(item), i == 0, place))
            return false;
    }
    return true;
}

/* What was noted has all ids, or a shortage of memory has taken some. */
static bool note(struct tokens *tokens, struct json *body)
{
    if (!tokens->ids || tokens->text.failed || tokens->text.len == 0)
        return fault_request(tokens->fault, "prompt",
                             tokens->text.len == 0
                                 ? "the prompt's tokens have no text"
                                 : "the prompt is larger than this server accepts");
    json_put(body, "prompt", json_new_text(buf_view(&tokens->text)));
    json_put(body, NOTED, tokens->ids);
    tokens->ids = NULL;
    return true;
}

bool llama_tokens_spell(struct json *body, const struct td_model *model, struct fault *fault)
{
    const struct json *prompt = json_get(body, "prompt");
    json_remove(body, NOTED); /* of a client, it means nothing */
    if (!has_ids(prompt))
        return true;
    if (!model)
        return chat_build_unsupported(
            fault, "prompt", "token ids belong to the local model, and this server has none");
    struct tokens tokens = {.model = model, .ids = json_new_array(), .fault = fault};
    buf_init(&tokens.text, TEXT_BYTES_MAX);
    bool ok = add_all(&tokens, prompt) && note(&tokens, body);
    json_free(tokens.ids);
    buf_deinit(&tokens.text);
    return ok;
}

bool llama_tokens_read(const struct json *body, struct arena *arena, const int32_t **ids,
                       size_t *count)
{
    const struct json *noted = json_get(body, NOTED);
    *ids = NULL;
    *count = json_count(noted);
    if (!noted)
        return true;
    int32_t *out = arena_alloc_array(arena, *count, sizeof *out);
    for (size_t i = 0; out && i < *count; i++)
        out[i] = (int32_t)json_int(json_at(noted, i), 0);
    *ids = out;
    return out != NULL;
}
