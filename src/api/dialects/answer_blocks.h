/* An answer's pieces as blocks that come one after another: reasoning, text, a refusal, and one for
 * each tool call. /v1/messages calls them content blocks, /v1/responses output items.
 *
 * Clients of these dialects keep one block open at a time. Tiers send calls in order. A tier that
 * returns to a call after it has begun something else is refused. */
#ifndef API_ANSWER_BLOCKS_H
#define API_ANSWER_BLOCKS_H

#include "api/http/fault.h"
#include "tier/tier.h"

struct grown;
struct tool_calls;

enum block_kind {
    BLOCK_NONE,
    BLOCK_REASONING,
    BLOCK_REDACTED, /* reasoning in cipher; only where `sign` is there */
    BLOCK_TEXT,
    BLOCK_REFUSAL,
    BLOCK_CALL
};

struct answer_blocks {
    enum block_kind open;
    size_t count;       /* that were begun; the open one is the last */
    size_t call_count;  /* of them calls */
    int64_t call_index; /* of the last call, as its tier counts */
    bool refused;       /* one was a refusal */
    bool custom;        /* the open one is a call of a custom tool, whose arguments are made here */
    bool hides_reasoning;
    bool hides_signatures;
    bool is_signed; /* the open one is reasoning that is proved: more of it is another block */
    int64_t signed_index; /* as its tier counts */
};

/* How a dialect writes them; each appends whole events. */
struct block_ops {
    /* id and name: of a call; of reasoning in cipher id is the cipher; else empty. */
    void (*begin)(void *ctx, const struct answer_blocks *blocks, struct td_str id,
                  struct td_str name, struct buf *out);
    void (*add)(void *ctx, const struct answer_blocks *blocks, struct td_str text, struct buf *out);
    void (*end)(void *ctx, const struct answer_blocks *blocks, struct buf *out);
    /* What proves the reasoning of the open block. NULL: the dialect has no place for it. */
    void (*sign)(void *ctx, const struct answer_blocks *blocks, struct td_str text,
                 struct buf *out);
};

/* hides_signatures: also what proves the reasoning. */
void answer_blocks_init(struct answer_blocks *blocks, bool hides_reasoning, bool hides_signatures);
/* False with *fault. */
bool answer_blocks_feed(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault);
/* What else a call has, while its block is open. `calls`: those that came so far. NULL = nothing.
 * **borrows** from calls. */
const struct grown *answer_blocks_call_rest(const struct answer_blocks *blocks,
                                            const struct tool_calls *calls);
/* Ends the open one. */
void answer_blocks_end(struct answer_blocks *blocks, const struct block_ops *ops, void *ctx,
                       struct buf *out);

#endif
