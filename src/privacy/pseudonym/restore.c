/* Reading one stream for surrogates. An Aho-Corasick automaton over the surrogates' letters and
 * digits runs over the letters and digits of the stream; restore_spell.h then looks closely at what
 * it finds. Of matches that overlap the leftmost wins, and of those the longest. So a match waits
 * until nothing longer can come of it, and a match that was beaten makes the signs after it be read
 * again. */
#include "privacy/pseudonym/restore.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/text/utf8.h"
#include "privacy/pseudonym/restore_spell.h"
#include "privacy/pseudonym/restore_table.h"

#include <stdlib.h>

#define NONE AUTOMATON_NONE
#define PENDING_BYTES_MAX ((size_t)256 << 20)
#define READ_BYTES 65536

bool restorer_init(struct restorer *restorer, const struct restore_table *table, bool json)
{
    *restorer = (struct restorer){.table = table, .json = json};
    buf_init(&restorer->pending, PENDING_BYTES_MAX);
    buf_init(&restorer->best_text, VAULT_VALUE_BYTES_MAX * 16);
    restorer->begins = calloc(table->ring, sizeof *restorer->begins);
    return restorer->begins != NULL;
}

void restorer_deinit(struct restorer *restorer)
{
    if (restorer->best_text.data)
        crypto_wipe(restorer->best_text.data, restorer->best_text.len);
    buf_deinit(&restorer->pending);
    buf_deinit(&restorer->best_text);
    free(restorer->begins);
    restorer->begins = NULL;
}

static struct td_str between(const struct restorer *r, uint64_t begin, uint64_t end)
{
    return str_slice(buf_view(&r->pending), (size_t)(begin - r->base), (size_t)(end - r->base));
}

static uint64_t *begin_of(const struct restorer *r, uint64_t sign_byte)
{
    return &r->begins[sign_byte & (r->table->ring - 1)];
}

/* The last signs may be the beginning of surrogates. Where does the longest of these begin? */
static uint64_t earliest(const struct restorer *r)
{
    const struct automaton *automaton = r->table->automaton;
    for (uint32_t state = r->state; state != AUTOMATON_ROOT;
         state = automaton_shorter(automaton, state)) {
        uint64_t begin = *begin_of(r, r->total - automaton_depth(automaton, state));
        if (begin & 1)
            return begin >> 1;
    }
    return r->base + r->scanned;
}

static void note_miss(struct restorer *r, uint64_t begin, uint64_t end)
{
    if (r->miss.on && begin >= r->miss.end)
        r->counts.seen++; /* the old one was no part of a match */
    if (!r->miss.on || begin >= r->miss.end)
        r->miss = (struct restore_match){true, begin, end};
}

static void pass_on(struct restorer *r, uint64_t end, struct buf *out)
{
    buf_append_str(out, between(r, r->base + r->head, end));
    r->head = (size_t)(end - r->base);
}

/* Writes the value of the best match. Signs after it may have been read as part of something
 * longer: then they are read again. */
static void commit(struct restorer *r, struct buf *out)
{
    if (r->miss.on && r->miss.begin < r->best.end) {
        r->counts.seen += r->miss.end <= r->best.begin; /* else it was part of this match */
        r->miss.on = false;
    }
    pass_on(r, r->best.begin, out);
    buf_append_str(out, buf_view(&r->best_text));
    if (r->see)
        r->see(r->ctx, &(struct restore_place){r->best_owner, r->best.begin, r->best.end,
                                               buf_view(&r->best_text)});
    r->counts.seen++;
    r->counts.restored++;
    if (r->rescan || earliest(r) < r->best.end) {
        r->scanned = (size_t)(r->best.end - r->base);
        r->state = AUTOMATON_ROOT;
        r->after_sign = true;
        r->after_unspaced = false;
        r->gap_bytes = 0;
        r->backslashes = (struct backslashes){0};
        r->unsure = false;
    }
    r->head = (size_t)(r->best.end - r->base);
    r->best.on = r->rescan = false;
}

static void set_best(struct restorer *r, uint32_t first, uint64_t begin, uint64_t end)
{
    const struct restore_table *table = r->table;
    struct td_str raw = between(r, begin, end);
    r->best = (struct restore_match){true, begin, end};
    buf_clear(&r->best_text);
    for (uint32_t i = first; i != NONE; i = table->next_alike[i])
        if (str_equal(table->entries[i].surrogate, raw)) {
            restore_exactly(table->entries[i].original, r->json, &r->best_text);
            r->best_owner = table->owners[i];
            return;
        }
    r->best_owner = table->owners[first];
    restore_respell(&table->entries[first], raw, r->json, &r->best_text);
}

/* The last sign of a surrogate was read. Does the surrogate stand here? False: that depends on
 * bytes that have not come yet. */
static bool look(struct restorer *r, bool more, struct buf *out)
{
    const struct automaton *automaton = r->table->automaton;
    struct td_str text = buf_view(&r->pending);
    uint32_t state = r->state;
    if (automaton_value(automaton, state) == NONE)
        state = automaton_next_whole(automaton, state);
    for (; state != NONE; state = automaton_next_whole(automaton, state)) {
        uint64_t begin = *begin_of(r, r->total - automaton_depth(automaton, state));
        uint64_t end = r->base + r->scanned;
        uint32_t first = automaton_value(automaton, state);
        const struct vault_entry *entry = &r->table->entries[first];
        if (!(begin & 1))
            continue; /* in the middle of a word */
        begin >>= 1;
        if (r->best.on && begin < r->best.end && begin > r->best.begin)
            continue;
        enum restore_edge edge = restore_edge_at(entry, text, r->scanned, more);
        if (edge == EDGE_UNKNOWN)
            return false;
        struct td_str raw = between(r, begin, end);
        while (first != NONE && !restore_gaps_fit(&r->table->entries[first], raw))
            first = r->table->next_alike[first];
        if (edge == EDGE_NO || first == NONE) {
            note_miss(r, begin, end);
            continue;
        }
        if (r->best.on && begin >= r->best.end) {
            if (earliest(r) <= r->best.begin) {
                r->rescan = true; /* something longer may still contain both */
                continue;
            }
            commit(r, out);
            if (r->base + r->scanned != end)
                return true; /* it is read again */
        }
        set_best(r, first, begin, end);
        return true;
    }
    return true;
}

static void take_sign(struct restorer *r, const struct sign *sign, bool after_letter)
{
    char bytes[4];
    size_t count = utf8_encode(sign->c, bytes);
    bool starts = !r->after_sign || sign->unspaced || r->after_unspaced || after_letter;
    for (size_t i = 0; i < count; i++) {
        *begin_of(r, r->total) = (r->base + sign->begin) << 1 | (starts && i == 0);
        r->total++;
        r->state = automaton_step(r->table->automaton, r->state, (unsigned char)bytes[i]);
    }
    r->after_sign = true;
    r->after_unspaced = sign->unspaced;
    r->gap_bytes = 0;
}

static void run(struct restorer *r, bool more, struct buf *out)
{
    const struct automaton *automaton = r->table->automaton;
    for (;;) {
        if (r->unsure) {
            if (!look(r, more, out))
                return;
            r->unsure = false;
        } else {
            struct sign sign = spell_at(buf_view(&r->pending), r->scanned, more);
            if (sign.kind == SIGN_END || sign.kind == SIGN_CUT)
                return;
            bool after_letter = r->backslashes.after_letter;
            spell_split(&r->backslashes, buf_view(&r->pending), r->json, &sign);
            r->scanned = sign.end;
            if (sign.kind == SIGN_GAP) {
                r->gap_bytes += sign.end - sign.begin;
                r->after_sign = false;
                r->state = r->gap_bytes > RESTORE_GAP_BYTES_MAX
                               ? AUTOMATON_ROOT
                               : automaton_gap(automaton, r->state);
            } else if (sign.kind != SIGN_NOTHING) {
                take_sign(r, &sign, after_letter);
                r->unsure = automaton_value(automaton, r->state) != NONE ||
                            automaton_next_whole(automaton, r->state) != NONE;
                if (r->unsure)
                    continue;
            }
        }
        if (r->best.on && earliest(r) > r->best.begin)
            commit(r, out);
    }
}

/* Drops what has been passed on from the buffer. */
static void compact(struct restorer *r)
{
    buf_consume(&r->pending, r->head);
    r->base += r->head;
    r->scanned -= r->head;
    r->head = 0;
}

void restorer_feed(struct restorer *r, struct td_str bytes, struct buf *out)
{
    buf_append_str(&r->pending, bytes);
    run(r, true, out);
    uint64_t hold = earliest(r);
    if (r->best.on && r->best.begin < hold)
        hold = r->best.begin;
    if (hold > r->base + r->head)
        pass_on(r, hold, out);
    compact(r);
}

void restorer_end(struct restorer *r, struct buf *out)
{
    run(r, false, out);
    while (r->best.on) {
        commit(r, out);
        run(r, false, out);
    }
    pass_on(r, r->base + r->pending.len, out);
    if (r->miss.on)
        r->counts.seen++;
    r->miss.on = false;
    r->scanned = r->pending.len;
    r->state = AUTOMATON_ROOT;
    r->after_sign = r->unsure = r->rescan = false;
    r->gap_bytes = 0;
    r->backslashes = (struct backslashes){0};
    compact(r);
}

bool restore_read(const struct restore_table *table, struct td_str text, restore_place_fn *see,
                  void *ctx)
{
    struct restorer restorer;
    struct buf out;
    if (!restorer_init(&restorer, table, false))
        return false;
    restorer.see = see;
    restorer.ctx = ctx;
    buf_init(&out, PENDING_BYTES_MAX);
    for (size_t at = 0; at < text.len; at += READ_BYTES) {
        restorer_feed(&restorer, str_slice(text, at, at + READ_BYTES), &out);
        buf_clear(&out);
    }
    restorer_end(&restorer, &out);
    bool ok = !out.failed && !restorer.pending.failed;
    restorer_deinit(&restorer);
    buf_deinit(&out);
    return ok;
}
