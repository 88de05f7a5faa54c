/* Pieces of an answer as blocks, of which one at a time is open.
 *
 * A block ends when a piece of another kind, or of another call, begins. Tiers send calls in order;
 * a piece for a call that has ended is refused, because its arguments would have a hole. */
#include "api/wire/answer_blocks.h"

#include "api/wire/openai_response.h"
#include "base/json.h"
#include "base/str.h"

#include <assert.h>

void answer_blocks_init(struct answer_blocks *blocks)
{
    *blocks = (struct answer_blocks){.call_index = -1};
}

void answer_blocks_end(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                       struct buf *out)
{
    if (blocks->open != BLOCK_NONE)
        ops->end(ctx, blocks, out);
    blocks->open = BLOCK_NONE;
}

static void begin(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                  enum block_kind kind, const struct json *call, struct buf *out)
{
    answer_blocks_end(blocks, ops, ctx, out);
    blocks->open = kind;
    blocks->count++;
    blocks->call_count += kind == BLOCK_CALL;
    blocks->refused |= kind == BLOCK_REFUSAL;
    ops->begin(ctx, blocks, json_text(json_get(call, "id")),
               json_text(json_get(json_get(call, "function"), "name")), out);
}

static void add_text(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                     enum block_kind kind, struct td_str text, struct buf *out)
{
    if (text.len == 0)
        return;
    if (blocks->open != kind)
        begin(blocks, ops, ctx, kind, NULL, out);
    ops->add(ctx, blocks, text, out);
}

static bool add_call(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                     const struct json *call, int64_t index, struct buf *out, struct fault *fault)
{
    struct td_str arguments = json_text(json_get(json_get(call, "function"), "arguments"));
    if (index > blocks->call_index) {
        blocks->call_index = index;
        begin(blocks, ops, ctx, BLOCK_CALL, call, out);
    } else if (arguments.len > 0 && (index < blocks->call_index || blocks->open != BLOCK_CALL)) {
        fault_set(fault, 502, "server_error", "bad_upstream_answer",
                  "the tier went on with a tool call after it had begun something else; ask "
                  "without a stream");
        return false;
    }
    if (arguments.len > 0)
        ops->add(ctx, blocks, arguments, out);
    return true;
}

bool answer_blocks_feed(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault)
{
    assert(ops && piece && out && fault);
    const struct json *message = response_raw_message(piece);
    const struct json *calls = json_get(message, "tool_calls");
    add_text(blocks, ops, ctx, BLOCK_TEXT, piece->text, out);
    add_text(blocks, ops, ctx, BLOCK_REFUSAL, json_text(json_get(message, "refusal")), out);
    for (size_t i = 0; i < json_count(calls); i++) {
        const struct json *call = json_at(calls, i);
        int64_t index = json_int(json_get(call, "index"), (int64_t)i);
        if (!add_call(blocks, ops, ctx, call, index, out, fault))
            return false;
    }
    return true;
}
