/* A held piece owns one block with all that it points to, so that it can be shown after the tier
 * has forgotten it. Appending either copies the whole piece or changes nothing. */
#include "exchange/limits/hold.h"

#include "base/json/json.h"
#include "tier/openai/openai_delta.h"

#include <stdlib.h>
#include <string.h>

/* A piece whose pointers lead into `block` and `raw`. */
struct held {
    struct tier_piece piece;
    char *block; /* alternatives, then text, then the token's bytes */
    struct json *raw;
};

bool piece_is_visible(const struct tier_piece *piece)
{
    struct delta_reader reader;
    struct delta_part part;
    openai_delta_read(&reader, piece->raw_delta);
    return piece->text.len > 0 || openai_delta_next(&reader, &part);
}

void hold_deinit(struct hold *hold)
{
    for (size_t i = 0; i < hold->count; i++) {
        free(hold->items[i].block);
        json_free(hold->items[i].raw);
    }
    free(hold->items);
    *hold = (struct hold){0};
}

static bool grow(struct hold *hold)
{
    if (hold->count < hold->capacity)
        return true;
    size_t capacity = hold->capacity ? hold->capacity * 2 : 32;
    struct held *items = realloc(hold->items, capacity * sizeof *items);
    if (!items)
        return false;
    hold->items = items;
    hold->capacity = capacity;
    return true;
}

static struct td_str copy_text(char **to, struct td_str text)
{
    struct td_str copy = {*to, text.len};
    if (text.len)
        memcpy(*to, text.data, text.len);
    *to += text.len;
    return copy;
}

bool hold_add(struct hold *hold, const struct tier_piece *piece)
{
    size_t top_bytes = piece->top_count * sizeof *piece->top;
    size_t block_bytes = top_bytes + piece->text.len + piece->token_text.len;
    size_t bytes = block_bytes + sizeof(struct held);
    if (bytes > HOLD_BYTES_MAX || hold->bytes > HOLD_BYTES_MAX - bytes || !grow(hold))
        return false;
    struct held held = {.piece = *piece, .block = malloc(block_bytes + 1)};
    if (piece->raw_delta)
        held.raw = json_clone(piece->raw_delta);
    if (!held.block || (piece->raw_delta && !held.raw)) {
        free(held.block);
        json_free(held.raw);
        return false;
    }
    char *to = held.block;
    if (top_bytes) {
        memcpy(to, piece->top, top_bytes);
        held.piece.top = (const struct td_top_logprob *)(const void *)to;
        to += top_bytes;
    }
    held.piece.text = copy_text(&to, piece->text);
    held.piece.token_text = copy_text(&to, piece->token_text);
    held.piece.raw_delta = held.raw;
    hold->items[hold->count++] = held;
    hold->bytes += bytes;
    return true;
}

void hold_replay(const struct hold *hold, bool (*fn)(void *ctx, const struct tier_piece *piece),
                 void *ctx)
{
    for (size_t i = 0; i < hold->count; i++)
        if (!fn(ctx, &hold->items[i].piece))
            return;
}

static bool add_text(void *ctx, const struct tier_piece *piece)
{
    buf_append_str(ctx, piece->text);
    return true;
}

void hold_text(const struct hold *hold, struct buf *out)
{
    hold_replay(hold, add_text, out);
}
