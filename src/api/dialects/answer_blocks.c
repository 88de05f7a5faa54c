/* Pieces of an answer as blocks, of which one at a time is open.
 *
 * A block ends when a piece of another kind, or of another call, begins. Tiers send calls in order;
 * a piece for a call that has ended is refused, because its arguments would have a hole. */
#include "api/dialects/answer_blocks.h"

#include "api/dialects/answer_members.h"
#include "api/wire/openai_response.h"
#include "api/wire/tool_calls.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/json/json.h"

void answer_blocks_init(struct answer_blocks *blocks, bool hides_reasoning, bool hides_signatures)
{
    *blocks = (struct answer_blocks){
        .call_index = -1, .hides_reasoning = hides_reasoning, .hides_signatures = hides_signatures};
}

void answer_blocks_end(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                       struct buf *out)
{
    if (blocks->custom)
        ops->add(ctx, blocks, STR(TOOL_CALLS_INPUT_END), out);
    if (blocks->open != BLOCK_NONE)
        ops->end(ctx, blocks, out);
    blocks->open = BLOCK_NONE;
    blocks->custom = blocks->is_signed = false;
}

/* What a call of a custom tool has in place of a function; NULL = it is one of a function. */
static const struct json *custom_of(const struct json *call)
{
    const struct json *custom = json_get(call, "custom");
    return json_kind_of(custom) == JSON_KIND_OBJECT ? custom : NULL;
}

static void begin(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                  enum block_kind kind, const struct json *call, struct buf *out)
{
    const struct json *custom = custom_of(call);
    const struct json *called = custom ? custom : json_get(call, "function");
    answer_blocks_end(blocks, ops, ctx, out);
    blocks->open = kind;
    blocks->count++;
    blocks->call_count += kind == BLOCK_CALL;
    blocks->refused |= kind == BLOCK_REFUSAL;
    ops->begin(ctx, blocks, json_get_text(call, "id"), json_get_text(called, "name"), out);
    blocks->custom = custom != NULL;
    if (custom)
        ops->add(ctx, blocks, STR(TOOL_CALLS_INPUT_BEGIN), out);
}

static void add_text(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                     enum block_kind kind, struct td_str text, struct buf *out)
{
    if (text.len == 0)
        return;
    if (blocks->open != kind || blocks->is_signed)
        begin(blocks, ops, ctx, kind, NULL, out);
    ops->add(ctx, blocks, text, out);
}

static void add_cipher(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                       struct td_str data, struct buf *out)
{
    answer_blocks_end(blocks, ops, ctx, out);
    blocks->open = BLOCK_REDACTED;
    blocks->count++;
    ops->begin(ctx, blocks, data, STR(""), out);
    answer_blocks_end(blocks, ops, ctx, out);
}

/* Signatures, and thoughts in cipher, as OpenRouter and our own clouds write them
 * (tier/clouds/cloud_parts.h). */
static void add_proofs(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                       const struct json *details, struct buf *out)
{
    size_t count = json_kind_of(details) == JSON_KIND_ARRAY ? json_count(details) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct json *detail = json_at(details, i);
        struct td_str signature = json_get_text(detail, "signature");
        struct td_str data = json_get_text(detail, "data");
        int64_t index = json_int(json_get(detail, "index"), 0);
        bool goes_on = blocks->is_signed && blocks->signed_index == index;
        if (str_equal(json_get_text(detail, "type"), STR("reasoning.encrypted")) && data.len)
            add_cipher(blocks, ops, ctx, data, out);
        if (signature.len == 0)
            continue;
        if (blocks->open != BLOCK_REASONING || (blocks->is_signed && !goes_on))
            begin(blocks, ops, ctx, BLOCK_REASONING, NULL, out);
        ops->sign(ctx, blocks, signature, out);
        blocks->is_signed = true;
        blocks->signed_index = index;
    }
}

static void add_arguments(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                          struct td_str arguments, struct buf *out)
{
    struct buf escaped;
    buf_init(&escaped, out->bytes_max);
    if (blocks->custom)
        tool_calls_add_input(arguments, &escaped);
    ops->add(ctx, blocks, blocks->custom ? buf_view(&escaped) : arguments, out);
    out->failed |= escaped.failed;
    buf_deinit(&escaped);
}

static bool add_call(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                     const struct json *call, int64_t index, struct buf *out, struct fault *fault)
{
    const struct json *custom = custom_of(call);
    struct td_str arguments = custom ? json_get_text(custom, "input")
                                     : json_get_text(json_get(call, "function"), "arguments");
    if (index > blocks->call_index) {
        answer_blocks_end(blocks, ops, ctx, out); /* it is known by its index */
        blocks->call_index = index;
        begin(blocks, ops, ctx, BLOCK_CALL, call, out);
    } else if (arguments.len > 0 && (index < blocks->call_index || blocks->open != BLOCK_CALL)) {
        fault_set(fault, 502, "server_error", "bad_upstream_answer",
                  "the tier went on with a tool call after it had begun something else; ask "
                  "without a stream");
        return false;
    }
    if (arguments.len > 0)
        add_arguments(blocks, ops, ctx, arguments, out);
    return true;
}

bool answer_blocks_feed(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault)
{
    ASSERT(ops && piece && out && fault);
    const struct json *message = response_raw_message(piece);
    const struct json *calls = json_get(message, "tool_calls");
    if (!blocks->hides_reasoning)
        add_text(blocks, ops, ctx, BLOCK_REASONING, answer_members_reasoning(message), out);
    if (ops->sign && !blocks->hides_signatures)
        add_proofs(blocks, ops, ctx, json_get(message, "reasoning_details"), out);
    add_text(blocks, ops, ctx, BLOCK_TEXT, piece->text, out);
    add_text(blocks, ops, ctx, BLOCK_REFUSAL, json_get_text(message, "refusal"), out);
    for (size_t i = 0; i < json_count(calls); i++) {
        const struct json *call = json_at(calls, i);
        int64_t index = json_int(json_get(call, "index"), (int64_t)i);
        if (!add_call(blocks, ops, ctx, call, index, out, fault))
            return false;
    }
    return true;
}

const struct grown *answer_blocks_call_rest(const struct answer_blocks *blocks,
                                            const struct tool_calls *calls)
{
    bool known = blocks->open == BLOCK_CALL && blocks->call_index >= 0 &&
                 (size_t)blocks->call_index < tool_calls_count(calls);
    return known ? tool_calls_at(calls, (size_t)blocks->call_index).rest : NULL;
}
