#include "tier/local/local_prompt.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "engine/model/model_infill.h"

#include <stdlib.h>
#include <string.h>

const struct json *local_prompt_tools(const struct td_request *request)
{
    bool none = request->completion || request->tool_choice == TOOL_CHOICE_NONE;
    return none || request->tool_count == 0 ? NULL : request_value(request, REQUEST_TOOLS);
}

/* No text here writes a control token: it is a file that somebody edits, not a prompt. */
static enum td_status tokenize_gap(const struct td_model *model,
                                   const struct td_completion *completion, int32_t **ids,
                                   size_t *count, struct td_error *err)
{
    const struct infill_gap gap = {.before = completion->text,
                                   .after = completion->after,
                                   .ids = completion->ids,
                                   .id_count = completion->id_count};
    struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    enum td_status status = model_infill_encode(model, &gap, &out, err);
    *count = out.len / sizeof **ids;
    if (status == TD_OK && !(*ids = (int32_t *)(void *)buf_take(&out)))
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu tokens", *count);
    buf_deinit(&out);
    return status;
}

/* Reads the prompt as `tandem score` and `generate` do: with BOS where the vocabulary wants it, and
 * with control tokens recognised by their spelling. A completion's client writes the whole text
 * itself, special tokens included. */
static enum td_status tokenize_text(const struct td_model *model,
                                    const struct td_completion *completion, int32_t **ids,
                                    size_t *count, struct td_error *err)
{
    if (completion->after.len > 0)
        return tokenize_gap(model, completion, ids, count, err);
    /* A text has at most as many tokens as bytes, plus BOS, EOS and the leading space of
     * SentencePiece. */
    size_t capacity = completion->ids ? completion->id_count : completion->text.len + 3;
    *ids = malloc((capacity + 1) * sizeof **ids);
    if (!*ids)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu tokens", capacity);
    enum td_status status = TD_OK;
    *count = capacity;
    if (completion->ids)
        memcpy(*ids, completion->ids, capacity * sizeof **ids);
    else
        status = td_tokenize(model, completion->text, true, true, *ids, capacity, count, err);
    if (status == TD_OK)
        return TD_OK;
    free(*ids);
    *ids = NULL;
    return status;
}

/* The first `message_count` messages, up to where the assistant's turn begins. */
static enum td_status tokenize_chat(const struct td_model *model, enum tool_format format,
                                    const struct td_request *request, size_t message_count,
                                    int32_t **ids, size_t *count, struct td_error *err)
{
    const struct json *tools = local_prompt_tools(request);
    if (format == TOOL_FORMAT_NONE || !(tools || request->has_calls))
        return td_chat_tokenize(model, request->messages, message_count, ids, count, err);
    const struct json *all = request_value(request, REQUEST_MESSAGES);
    if (message_count == request->message_count)
        return chat_tools_tokenize(model, all, tools, ids, count, err);
    struct json *first = json_new_array();
    for (size_t i = 0; i < message_count; i++)
        json_push(first, json_clone(json_at(all, i)));
    enum td_status status = chat_tools_tokenize(model, first, tools, ids, count, err);
    json_free(first);
    return status;
}

/* Appends the beginning of the assistant's turn. Its text never spells a control token. */
static enum td_status tokenize_begun(const struct td_model *model, struct td_str begun,
                                     int32_t **ids, size_t *count, struct td_error *err)
{
    size_t capacity = begun.len + 2, added = 0;
    int32_t *longer = realloc(*ids, (*count + capacity) * sizeof **ids);
    enum td_status status = TD_OK;
    if (longer)
        *ids = longer;
    else
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu tokens", *count + capacity);
    if (status == TD_OK)
        status = td_tokenize(model, begun, false, false, *ids + *count, capacity, &added, err);
    *count += added;
    if (status == TD_OK)
        return TD_OK;
    free(*ids);
    *ids = NULL;
    return status;
}

enum td_status local_prompt_tokenize(const struct td_model *model, enum tool_format format,
                                     const struct td_request *request, int32_t **ids, size_t *count,
                                     struct td_error *err)
{
    if (request->completion)
        return tokenize_text(model, request->completion, ids, count, err);
    if (!request->continues)
        return tokenize_chat(model, format, request, request->message_count, ids, count, err);
    ASSERT(request->message_count > 0);
    size_t asked = request->message_count - 1;
    enum td_status status = tokenize_chat(model, format, request, asked, ids, count, err);
    return status == TD_OK
               ? tokenize_begun(model, request->messages[asked].content, ids, count, err)
               : status;
}
