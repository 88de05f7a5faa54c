/* Merging. Both kinds of vocabulary start with the characters of a piece as symbols, and join the
 * best adjacent pair until no pair can be joined. In byte-level BPE (Sennrich et al. 2016, section
 * 3.2) the best pair is the one of lowest rank. In SentencePiece it is the one whose joint text has
 * the highest score, or in Gemma 4 the pair of lowest rank. Of equal pairs all take the leftmost.
 * Symbols are a linked list over the text and candidate pairs are a binary heap, so a piece of n
 * characters costs O(n log n), whatever it contains. A candidate is stale when its length has
 * changed: symbols only grow.
 *
 * Rejected: merging by token ids. It needs three look-ups for each merge while loading (280 000
 * merges in Llama 3). Merges by text need none, and intermediate texts that are no token come out
 * as in the reference implementations. */
#include "engine/tokenizer/tokenizer_internal.h"

#include "base/core/assertion.h"

#include <stdlib.h>

#define NO_SYMBOL UINT32_MAX
#define SPACE_MARK "\xE2\x96\x81" /* U+2581, SentencePiece's space */
#define SPACE_MARK_LEN 3

void merger_deinit(struct merger *merger)
{
    free(merger->text);
    free(merger->symbols);
    free(merger->heap);
}

static bool grow(struct merger *merger, void **array, size_t *capacity, size_t needed, size_t bytes)
{
    if (needed <= *capacity)
        return true;
    size_t wanted = *capacity < 32 ? 64 : *capacity * 2;
    if (wanted < needed)
        wanted = needed;
    void *grown = wanted > SIZE_MAX / bytes ? NULL : realloc(*array, wanted * bytes);
    if (grown == NULL) {
        merger->out_of_memory = true;
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

static bool reserve_text(struct merger *merger, size_t bytes)
{
    void *array = merger->text;
    bool ok = grow(merger, &array, &merger->text_capacity, bytes, 1);
    merger->text = array;
    return ok;
}

static bool reserve_symbols(struct merger *merger, size_t count)
{
    void *array = merger->symbols;
    bool ok = grow(merger, &array, &merger->symbol_capacity, count, sizeof(*merger->symbols));
    merger->symbols = array;
    return ok;
}

static bool append_id(struct merger *merger, int32_t id)
{
    if (id >= 0)
        buf_append(merger->ids, &id, sizeof(id));
    return !merger->ids->failed;
}

/* --- the heap: smallest order first --- */

static bool heap_push(struct merger *merger, struct merge_candidate candidate)
{
    void *array = merger->heap;
    bool ok =
        grow(merger, &array, &merger->heap_capacity, merger->heap_count + 1, sizeof(*merger->heap));
    merger->heap = array;
    if (!ok)
        return false;
    size_t at = merger->heap_count++;
    while (at > 0 && merger->heap[(at - 1) / 2].order > candidate.order) {
        merger->heap[at] = merger->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    merger->heap[at] = candidate;
    return true;
}

static struct merge_candidate heap_pop(struct merger *merger)
{
    struct merge_candidate *heap = merger->heap, best = heap[0];
    struct merge_candidate moved = heap[--merger->heap_count];
    size_t count = merger->heap_count, at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].order < heap[child].order)
            child++;
        if (heap[child].order >= moved.order)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
    return best;
}

/* --- pairs --- */

static uint32_t pair_priority(const struct merger *merger, const struct merge_symbol *left,
                              const struct merge_symbol *right)
{
    const struct tokenizer *t = merger->tokenizer;
    const char *text = merger->text + left->begin;
    if (!t->sentencepiece || t->ranked)
        return tokenizer_merge_rank(t, (struct td_str){text, left->len}, left->hash,
                                    (struct td_str){text + left->len, right->len});
    uint64_t hash = text_hash(text + left->len, right->len, left->hash);
    int32_t id = tokenizer_find_plain(t, text, (size_t)left->len + right->len, hash);
    return id < 0 ? MERGE_NONE : t->priorities[id];
}

static bool add_pair(struct merger *merger, uint32_t left, uint32_t right)
{
    if (left == NO_SYMBOL || right == NO_SYMBOL)
        return true;
    const struct merge_symbol *l = &merger->symbols[left], *r = &merger->symbols[right];
    uint32_t priority = pair_priority(merger, l, r);
    if (priority == MERGE_NONE)
        return true;
    return heap_push(merger, (struct merge_candidate){.order = (uint64_t)priority << 32 | left,
                                                      .right = right,
                                                      .len = l->len + r->len});
}

static bool merge_all(struct merger *merger)
{
    struct merge_symbol *symbols = merger->symbols;
    merger->heap_count = 0;
    for (uint32_t i = 1; i < merger->symbol_count; i++)
        if (!add_pair(merger, i - 1, i))
            return false;
    while (merger->heap_count > 0) {
        struct merge_candidate best = heap_pop(merger);
        uint32_t left = (uint32_t)best.order;
        struct merge_symbol *l = &symbols[left], *r = &symbols[best.right];
        if (l->len == 0 || r->len == 0 || l->len + r->len != best.len)
            continue;
        l->hash = text_hash(merger->text + r->begin, r->len, l->hash);
        l->len += r->len;
        l->next = r->next;
        r->len = 0;
        if (l->next != NO_SYMBOL)
            symbols[l->next].previous = left;
        if (!add_pair(merger, l->previous, left) || !add_pair(merger, left, l->next))
            return false;
    }
    return true;
}

static void add_symbol(struct merger *merger, uint32_t begin, uint32_t len)
{
    uint32_t index = (uint32_t)merger->symbol_count++;
    merger->symbols[index] =
        (struct merge_symbol){.hash = text_hash(merger->text + begin, len, HASH_FNV1A64_BASIS),
                              .begin = begin,
                              .len = len,
                              .previous = index - 1, /* UINT32_MAX for the first */
                              .next = index + 1};
}

static void end_symbols(struct merger *merger)
{
    merger->symbols[merger->symbol_count - 1].next = NO_SYMBOL;
}

/* --- byte-level BPE --- */

/* A symbol that is no token becomes the tokens of its single bytes. */
static bool append_bytes_of(struct merger *merger, const unsigned char *bytes, size_t count)
{
    const struct tokenizer *t = merger->tokenizer;
    for (size_t i = 0; i < count; i++)
        if (!append_id(merger, t->byte_ids[bytes[i]] >= 0 ? t->byte_ids[bytes[i]] : t->unknown))
            return false;
    return true;
}

bool merger_encode_byte_level(struct merger *merger, struct td_str piece)
{
    const struct tokenizer *t = merger->tokenizer;
    if (piece.len == 0)
        return true;
    if (!reserve_text(merger, piece.len * 2) || !reserve_symbols(merger, piece.len))
        return false;
    size_t len = 0;
    merger->symbol_count = 0;
    for (size_t i = 0; i < piece.len; i++) {
        size_t more = byte_level_encode((unsigned char)piece.data[i], merger->text + len);
        add_symbol(merger, (uint32_t)len, (uint32_t)more);
        len += more;
    }
    end_symbols(merger);
    if (pretokenizer_ignores_merges(t->pre)) {
        int32_t id = tokenizer_find_plain(t, merger->text, len,
                                          text_hash(merger->text, len, HASH_FNV1A64_BASIS));
        if (id >= 0)
            return append_id(merger, id);
    }
    if (!merge_all(merger))
        return false;
    /* Symbol i began as byte i, so a symbol covers the bytes up to the index of the next symbol. */
    for (uint32_t i = 0; i != NO_SYMBOL; i = merger->symbols[i].next) {
        const struct merge_symbol *symbol = &merger->symbols[i];
        int32_t id =
            tokenizer_find_plain(t, merger->text + symbol->begin, symbol->len, symbol->hash);
        size_t end = symbol->next == NO_SYMBOL ? piece.len : symbol->next;
        bool ok = id >= 0 ? append_id(merger, id)
                          : append_bytes_of(merger, (const unsigned char *)piece.data + i, end - i);
        if (!ok)
            return false;
    }
    return true;
}

/* --- SentencePiece --- */

/* Returns where the character at `at` ends. A byte that is not UTF-8 is a character of its own, so
 * that it never splits a space mark. */
static size_t character_end(const char *text, size_t at, size_t end)
{
    if ((unsigned char)text[at] < 0x80)
        return at + 1;
    utf8_next((struct td_str){text, end}, &at);
    return at;
}

static bool append_unmerged(struct merger *merger, const struct merge_symbol *symbol)
{
    const struct tokenizer *t = merger->tokenizer;
    const unsigned char *bytes = (const unsigned char *)merger->text + symbol->begin;
    for (uint32_t i = 0; i < symbol->len; i++)
        if (t->byte_ids[bytes[i]] < 0)
            return append_id(merger, t->unknown); /* no byte tokens: one unknown a character */
    return append_bytes_of(merger, bytes, symbol->len);
}

static bool encode_word(struct merger *merger, size_t begin, size_t end)
{
    const struct tokenizer *t = merger->tokenizer;
    if (!reserve_symbols(merger, end - begin))
        return false;
    merger->symbol_count = 0;
    for (size_t at = begin; at < end;) {
        size_t next = character_end(merger->text, at, end);
        add_symbol(merger, (uint32_t)at, (uint32_t)(next - at));
        at = next;
    }
    end_symbols(merger);
    if (!merge_all(merger))
        return false;
    for (uint32_t i = 0; i != NO_SYMBOL; i = merger->symbols[i].next) {
        const struct merge_symbol *symbol = &merger->symbols[i];
        int32_t id =
            tokenizer_find_plain(t, merger->text + symbol->begin, symbol->len, symbol->hash);
        if (!(id >= 0 ? append_id(merger, id) : append_unmerged(merger, symbol)))
            return false;
    }
    return true;
}

/* Copies the text to merger->text with each space as U+2581; returns the new length. */
static size_t escape_spaces(struct merger *merger, struct td_str text, bool space_prefix)
{
    size_t len = 0;
    if (space_prefix) {
        memcpy(merger->text, SPACE_MARK, SPACE_MARK_LEN);
        len = SPACE_MARK_LEN;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == ' ') {
            memcpy(merger->text + len, SPACE_MARK, SPACE_MARK_LEN);
            len += SPACE_MARK_LEN;
        } else {
            merger->text[len++] = text.data[i];
        }
    }
    return len;
}

static bool is_space_mark(const char *text, size_t at, size_t len)
{
    return len - at >= SPACE_MARK_LEN && memcmp(text + at, SPACE_MARK, SPACE_MARK_LEN) == 0;
}

/* If no token has a space after another character, no merge can cross from a word into the spaces
 * after it. Then words are merged one by one, which gives the same ids with far less memory. */
bool merger_encode_sentencepiece(struct merger *merger, struct td_str text, bool space_prefix)
{
    ASSERT(merger->tokenizer->sentencepiece);
    if (text.len == 0)
        return true;
    if (!reserve_text(merger, (text.len + 1) * SPACE_MARK_LEN))
        return false;
    size_t len = escape_spaces(merger, text, space_prefix);
    if (merger->tokenizer->merges_cross_spaces)
        return encode_word(merger, 0, len);
    size_t begin = 0;
    bool in_spaces = true;
    for (size_t at = 0; at < len; at = character_end(merger->text, at, len)) {
        bool space = is_space_mark(merger->text, at, len);
        if (space && !in_spaces) {
            if (!encode_word(merger, begin, at))
                return false;
            begin = at;
        }
        in_spaces = space;
    }
    return encode_word(merger, begin, len);
}
