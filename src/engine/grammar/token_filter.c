/* Decides which tokens a grammar allows. The sampler's choice is tested alone first. When it is
 * refused, one walk over the vocabulary's prefix tree (token_index.h) tests all tokens. A token
 * costs only the bytes that it does not share with the token before it. A byte that leaves the
 * grammar skips everything below it. Results are kept by place, because a JSON text comes back to
 * few places. Inside a string nearly all tokens are allowed; there the plain ones are copied as a
 * bit set instead of being walked. */
#include "engine/grammar/token_filter.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A walk over less than 1/4 of the vocabulary costs less than further draws. */
#define CHEAP_SHARE 4

/* How far forced text is followed: more than all guesses together have. */
#define FORCED_BYTES_MAX 128

static size_t mask_words(const struct token_filter *f)
{
    return ((size_t)f->index->vocab_count + 63) / 64;
}

/* The matcher does not say which: it met its limit, or memory ran short since `before`. */
static enum td_status explodes(uint32_t before, struct td_error *err)
{
    enum td_status status = error_set(
        err, TD_LIMIT, "the grammar is too ambiguous: too many rules are possible at once");
    return shortage_judge(before, status, err);
}

enum td_status token_filter_new(struct td_grammar *grammar, const struct tokenizer *tokenizer,
                                const struct token_index *index, struct token_filter **out,
                                struct td_error *err)
{
    ASSERT(grammar != NULL);
    ASSERT(tokenizer_count(tokenizer) == index->vocab_count);
    *out = NULL;
    uint32_t before = shortage_count();
    struct token_filter *f = calloc(1, sizeof *f);
    if (f == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a grammar's filter");
    *f = (struct token_filter){
        .tokenizer = tokenizer, .index = index, .ends_allowed = true, .budget_due = true};
    f->path = calloc((size_t)index->len_max + 1, sizeof *f->path);
    enum td_status status = f->path ? matcher_new(grammar, &f->matcher, err)
                                    : error_set(err, TD_NO_MEMORY, "no memory for a filter");
    if (status == TD_OK) {
        f->set = matcher_start(f->matcher);
        if (f->set == MATCH_FULL)
            status = explodes(before, err);
    }
    if (status != TD_OK) {
        token_filter_free(f);
        return status;
    }
    f->tokens_left = UINT32_MAX;
    size_t fit = TOKEN_FILTER_MASK_BYTES / ((mask_words(f) + 1) * sizeof(uint64_t));
    f->mask_max = fit > TOKEN_FILTER_MASKS ? TOKEN_FILTER_MASKS : fit < 4 ? 4 : (uint32_t)fit;
    *out = f;
    return TD_OK;
}

void token_filter_free(struct token_filter *f)
{
    if (f == NULL)
        return;
    for (uint32_t i = 0; i < TOKEN_FILTER_MASKS; i++)
        free(f->masks[i].bits);
    matcher_free(f->matcher);
    free(f->path);
    free(f);
}

void token_filter_mark(struct token_filter *f, const struct token_marks *marks)
{
    ASSERT(!f->begun && f->mask_max > 0);
    f->marked = true;
    f->marks = *marks;
}

void token_filter_set_budget(struct token_filter *f, uint32_t tokens_left)
{
    if (f->budget_due)
        f->budgeted = matcher_bytes_to_end(f->matcher, f->set) <= tokens_left;
    f->budget_due = false;
    f->tokens_left = tokens_left;
}

static bool in_budget(const struct token_filter *f, uint32_t set)
{
    return !f->budgeted || matcher_bytes_to_end(f->matcher, set) < f->tokens_left ||
           (f->marked && matcher_may_end(f->matcher, f->set));
}

/* The byte that stands for the token in a grammar with marks; 0 = its text does. */
static unsigned char mark_of(const struct token_filter *f, int32_t id)
{
    if (!f->marked)
        return 0;
    if (id == f->marks.open_id)
        return TOKEN_MARK_OPEN;
    if (id == f->marks.close_id)
        return TOKEN_MARK_CLOSE;
    bool other =
        !tokenizer_is_end(f->tokenizer, id) && tokenizer_piece(f->tokenizer, id, false).len == 0;
    return other ? TOKEN_MARK_OTHER : 0;
}

/* One byte of text. */
static uint32_t step(struct token_filter *f, uint32_t set, unsigned char byte)
{
    bool taken = f->marked && byte >= TOKEN_MARK_OPEN && byte <= TOKEN_MARK_OTHER;
    return taken ? MATCH_DEAD : matcher_step(f->matcher, set, byte);
}

static bool is_free_first(const struct token_filter *f, int32_t id)
{
    return f->marked && !f->begun && id >= 0 && id == f->marks.free_id;
}

/* Returns the set after the token. */
static uint32_t walk_from(struct token_filter *f, uint32_t set, int32_t id)
{
    unsigned char mark = mark_of(f, id);
    if (mark)
        return matcher_step(f->matcher, set, mark);
    struct td_str piece = token_index_piece(f->tokenizer, id);
    for (size_t i = 0; i < piece.len && set != MATCH_DEAD && set != MATCH_FULL; i++)
        set = step(f, set, (unsigned char)piece.data[i]);
    return set;
}

/* Makes room in the matcher, so that a step that met a limit may be tried again. */
static enum td_status compact(struct token_filter *f, struct td_error *err)
{
    uint32_t before = shortage_count();
    for (uint32_t i = 0; i < TOKEN_FILTER_MASKS; i++)
        f->masks[i].used = false;
    f->set = matcher_compact(f->matcher, f->set);
    return f->set == MATCH_FULL ? explodes(before, err) : TD_OK;
}

static enum td_status walk_or_compact(struct token_filter *f, int32_t id, uint32_t *set,
                                      struct td_error *err)
{
    *set = walk_from(f, f->set, id);
    if (*set != MATCH_FULL)
        return TD_OK;
    enum td_status status = compact(f, err);
    if (status != TD_OK)
        return status;
    uint32_t before = shortage_count();
    *set = walk_from(f, f->set, id);
    return *set == MATCH_FULL ? explodes(before, err) : TD_OK;
}

enum td_status token_filter_test(struct token_filter *f, int32_t id, bool *allowed,
                                 struct td_error *err)
{
    *allowed = f->freed || is_free_first(f, id);
    if (*allowed)
        return TD_OK;
    if (!mark_of(f, id) && token_index_piece(f->tokenizer, id).len == 0) {
        *allowed = f->ends_allowed && tokenizer_is_end(f->tokenizer, id) &&
                   matcher_may_end(f->matcher, f->set);
        return TD_OK;
    }
    uint32_t set;
    enum td_status status = walk_or_compact(f, id, &set, err);
    *allowed = status == TD_OK && set != MATCH_DEAD && in_budget(f, set);
    return status;
}

/* --- all tokens ------------------------------------------------------------------------------- */

static void allow(struct token_mask *mask, uint32_t id)
{
    mask->bits[id / 64] |= UINT64_C(1) << (id % 64);
}

/* Whether every plain byte leads back to this place, as inside a string. Then all tokens of plain
 * bytes are allowed without a walk. */
static bool loops_on_plain(struct token_filter *f)
{
    for (unsigned byte = 0; byte < 256; byte++)
        if (token_byte_is_plain((unsigned char)byte) &&
            matcher_step(f->matcher, f->set, (unsigned char)byte) != f->set)
            return false;
    return true;
}

static void note_bytes(struct token_mask *mask, uint32_t bytes)
{
    mask->bytes_max = bytes > mask->bytes_max ? bytes : mask->bytes_max;
}

/* Allows the tokens of plain bytes, at a place to which these lead back. */
static void allow_plain(struct token_filter *f, struct token_mask *mask)
{
    if (in_budget(f, f->set)) {
        memcpy(mask->bits, f->index->plain, mask_words(f) * sizeof *mask->bits);
        note_bytes(mask, matcher_bytes_to_end(f->matcher, f->set));
    } else {
        mask->cut = true;
    }
}

/* Whether the mark may come, within the budget. */
static bool allows_mark(struct token_filter *f, unsigned char mark, struct token_mask *mask)
{
    uint32_t set = matcher_step(f->matcher, f->set, mark);
    if (set == MATCH_DEAD || set == MATCH_FULL)
        return false;
    bool fits = in_budget(f, set);
    if (fits)
        note_bytes(mask, matcher_bytes_to_end(f->matcher, set));
    mask->cut |= !fits;
    return fits;
}

/* A mark with a text of its own was tested by that text before. */
static void put_marks(struct token_filter *f, struct token_mask *mask)
{
    const int32_t ids[] = {f->marks.open_id, f->marks.close_id};
    bool other = allows_mark(f, TOKEN_MARK_OTHER, mask);
    for (uint32_t id = 0; other && id < f->index->vocab_count; id++)
        if (mark_of(f, (int32_t)id) == TOKEN_MARK_OTHER)
            allow(mask, id);
    for (unsigned i = 0; i < 2; i++) {
        if (ids[i] < 0)
            continue;
        mask->bits[ids[i] / 64] &= ~(UINT64_C(1) << (ids[i] % 64));
        if (allows_mark(f, (unsigned char)(TOKEN_MARK_OPEN + i), mask))
            allow(mask, (uint32_t)ids[i]);
    }
}

/* Walks over the vocabulary once; false when a limit was met. path[d] is the set after d bytes.
 * Everything below a byte that leaves the grammar is skipped. */
static bool fill_mask(struct token_filter *f, struct token_mask *mask, bool *any)
{
    bool loops = loops_on_plain(f);
    memset(mask->bits, 0, mask_words(f) * sizeof *mask->bits);
    mask->bytes_max = 0;
    mask->cut = *any = false;
    if (loops)
        allow_plain(f, mask);
    f->path[0] = f->set;
    for (uint32_t n = 0; n < f->index->node_count;) {
        const struct token_node *node = &f->index->nodes[n];
        uint32_t set =
            loops && node->plain ? MATCH_DEAD : step(f, f->path[node->depth], node->byte);
        if (set == MATCH_FULL)
            return false;
        n = set == MATCH_DEAD ? node->end : n + 1;
        f->path[node->depth + 1] = set;
        if (set == MATCH_DEAD || node->id == TOKEN_NODE_NONE)
            continue;
        if (in_budget(f, set)) {
            note_bytes(mask, matcher_bytes_to_end(f->matcher, set));
            allow(mask, node->id);
        } else {
            mask->cut = true;
        }
    }
    if (f->marked)
        put_marks(f, mask);
    for (size_t w = 0; w < mask_words(f) && !*any; w++)
        *any = mask->bits[w] != 0;
    return true;
}

static struct token_mask *find_mask(struct token_filter *f)
{
    for (uint32_t i = 0; i < f->mask_max; i++) {
        struct token_mask *mask = &f->masks[i];
        if (mask->used && mask->set == f->set &&
            (!f->budgeted || mask->bytes_max < f->tokens_left)) {
            mask->used_at = ++f->wanted;
            return mask;
        }
    }
    return NULL;
}

/* A mask that is not in use, or the least recently used one. */
static struct token_mask *mask_to_fill(struct token_filter *f)
{
    struct token_mask *oldest = &f->masks[0];
    for (uint32_t i = 0; i < f->mask_max; i++) {
        struct token_mask *mask = &f->masks[i];
        if (!mask->used)
            return mask;
        oldest = mask->used_at < oldest->used_at ? mask : oldest;
    }
    return oldest;
}

static enum td_status make_mask(struct token_filter *f, struct token_mask **out, bool *any,
                                struct td_error *err)
{
    struct token_mask *mask = mask_to_fill(f);
    if (mask->bits == NULL)
        mask->bits = calloc(mask_words(f) + 1, sizeof *mask->bits);
    if (mask->bits == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a grammar's filter");
    mask->used = false;
    if (!fill_mask(f, mask, any)) {
        enum td_status status = compact(f, err);
        if (status != TD_OK)
            return status;
        uint32_t before = shortage_count();
        if (!fill_mask(f, mask, any))
            return explodes(before, err);
    }
    mask->set = f->set;
    mask->used_at = ++f->wanted;
    mask->used = !mask->cut;
    *out = mask;
    return TD_OK;
}

bool token_filter_knows(struct token_filter *f)
{
    return find_mask(f) != NULL;
}

bool token_filter_is_cheap(struct token_filter *f)
{
    if (find_mask(f))
        return true;
    uint32_t alive = 0;
    for (uint32_t n = 0; n < f->index->node_count; n = f->index->nodes[n].end) {
        const struct token_node *node = &f->index->nodes[n];
        uint32_t set = step(f, f->set, node->byte);
        if (set == MATCH_FULL)
            return false;
        alive += set == MATCH_DEAD ? 0 : node->end - n;
    }
    return alive < f->index->node_count / CHEAP_SHARE;
}

/* -INFINITY for the tokens of one word of a mask that are not allowed. */
static void forbid_word(float *logits, uint64_t allowed, uint32_t count)
{
    if (allowed == 0) {
        for (uint32_t i = 0; i < count; i++)
            logits[i] = -INFINITY;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        logits[i] = allowed >> i & 1 ? logits[i] : -INFINITY;
}

enum td_status token_filter_apply(struct token_filter *f, float *logits, uint32_t vocab_count,
                                  struct td_error *err)
{
    ASSERT(logits != NULL);
    struct token_mask *mask = find_mask(f);
    bool ends = f->ends_allowed && matcher_may_end(f->matcher, f->set) && f->index->end_count > 0;
    bool any = true;
    enum td_status status = mask ? TD_OK : make_mask(f, &mask, &any, err);
    if (status == TD_OK && !any && !ends && f->budgeted) {
        f->budgeted = false; /* the vocabulary lacks single bytes: the limit may cut the text */
        status = make_mask(f, &mask, &any, err);
    }
    if (status != TD_OK)
        return status;
    bool frees = f->marked && !f->begun && f->marks.free_id >= 0;
    float free_logit = frees ? logits[f->marks.free_id] : -INFINITY;
    if (!any && !ends && !frees)
        return error_set(err, TD_UNSUPPORTED, "the grammar allows no token of the vocabulary here");
    for (uint32_t i = 0; ends && i < f->index->end_count; i++)
        allow(mask, (uint32_t)f->index->ends[i]);
    for (uint32_t id = 0; id < vocab_count; id += 64) {
        uint64_t allowed = id < f->index->vocab_count ? mask->bits[id / 64] : 0;
        uint32_t count = vocab_count - id < 64 ? vocab_count - id : 64;
        if (allowed != UINT64_MAX)
            forbid_word(logits + id, allowed, count);
    }
    if (frees)
        logits[f->marks.free_id] = free_logit;
    return TD_OK;
}

enum td_status token_filter_accept(struct token_filter *f, int32_t id, struct td_error *err)
{
    uint32_t set = f->set;
    f->freed = f->freed || is_free_first(f, id);
    f->begun = true;
    if (f->freed)
        return TD_OK;
    enum td_status status = walk_or_compact(f, id, &set, err);
    if (status != TD_OK)
        return status;
    if (set == MATCH_DEAD)
        return error_set(err, TD_INTERNAL, "token %d leaves the grammar", id);
    f->budget_due =
        f->marked && matcher_may_end(f->matcher, f->set) && !matcher_may_end(f->matcher, set);
    f->set = set;
    return matcher_is_crowded(f->matcher) ? compact(f, err) : TD_OK;
}

uint32_t token_filter_forced(struct token_filter *f, int32_t *ids, uint32_t max)
{
    ASSERT(ids != NULL || max == 0);
    char text[FORCED_BYTES_MAX];
    size_t len = 0, used = 0, piece_len;
    uint32_t set = f->set, count = 0;
    if (f->freed || (f->marked && !f->begun && f->marks.free_id >= 0))
        return 0;
    for (int byte; len < sizeof text && (byte = matcher_forced_byte(f->matcher, set)) >= 0;) {
        int32_t mark = !f->marked                 ? -1
                       : byte == TOKEN_MARK_OPEN  ? f->marks.open_id
                       : byte == TOKEN_MARK_CLOSE ? f->marks.close_id
                                                  : -1;
        if (mark >= 0 && len == 0 && max > 0)
            ids[count++] = mark;
        set = step(f, set, (unsigned char)byte);
        if (set == MATCH_FULL || set == MATCH_DEAD)
            break;
        text[len++] = (char)byte;
    }
    while (count < max && used < len) {
        uint32_t id =
            token_index_longest(f->index, (struct td_str){text + used, len - used}, &piece_len);
        if (id == TOKEN_NODE_NONE)
            break;
        ids[count++] = (int32_t)id;
        used += piece_len;
    }
    return count;
}

uint32_t token_filter_count_allowed(struct token_filter *f, const int32_t *ids, uint32_t count)
{
    ASSERT(ids != NULL || count == 0);
    uint32_t set = f->set, allowed = 0;
    for (; allowed < count && !f->freed; allowed++) {
        uint32_t next = walk_from(f, set, ids[allowed]);
        /* An end token is the last one in any case, and the walk would not check it. */
        bool is_text =
            mark_of(f, ids[allowed]) || token_index_piece(f->tokenizer, ids[allowed]).len > 0;
        if (!is_text || next == MATCH_DEAD || next == MATCH_FULL)
            break;
        set = next;
    }
    return f->freed ? count : allowed;
}

bool token_filter_is_forced(struct token_filter *f, int32_t id)
{
    unsigned char mark = mark_of(f, id);
    struct td_str piece = token_index_piece(f->tokenizer, id);
    if (f->freed || (f->marked && !f->begun && f->marks.free_id >= 0))
        return false;
    if (mark)
        return matcher_forced_byte(f->matcher, f->set) == mark;
    uint32_t set = f->set;
    for (size_t i = 0; i < piece.len; i++) {
        if (matcher_forced_byte(f->matcher, set) != (unsigned char)piece.data[i])
            return false;
        set = step(f, set, (unsigned char)piece.data[i]);
        if (set == MATCH_DEAD || set == MATCH_FULL)
            return false;
    }
    return piece.len > 0;
}

bool token_filter_is_complete(const struct token_filter *f)
{
    return !f->freed && matcher_must_end(f->matcher, f->set);
}
