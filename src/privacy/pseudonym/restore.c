/* An Aho-Corasick automaton over the surrogates' letters and digits reads the stream's, whatever stands
 * between them; what it finds is then looked at closely (restore_spell.h). Of matches that overlap the
 * leftmost is taken, of those the longest; so a match waits until nothing longer can come of it. */
#include "privacy/pseudonym/restore.h"

#include "base/crypto.h"
#include "base/str.h"
#include "base/utf8.h"
#include "privacy/pseudonym/date_forms.h"
#include "privacy/pseudonym/restore_spell.h"
#include "privacy/text/automaton.h"
#include "privacy/text/spell.h"

#include <stdlib.h>

#define NONE AUTOMATON_NONE
#define NODES_MAX (1u << 21)
#define DATES_MAX 32      /* of a request that are known in other forms, too */
#define LOCALS_MAX 256    /* mail addresses that are known by their local parts, too */
#define LOCAL_SIGNS_MIN 5 /* a family name of three letters and two digits */
#define PENDING_BYTES_MAX ((size_t)256 << 20)
#define READ_BYTES 65536

struct restore_table {
    struct vault_entry *entries;
    uint32_t *next_alike; /* [count] the next with the same letters and digits */
    uint32_t *owners;     /* [count] the use that it came from */
    size_t count;
    struct automaton *automaton;
    size_t ring;             /* a power of two */
    struct date_form *dates; /* [date_count] that entries behind the vault's point to */
    size_t date_count;
};

/* --- the table --- */

/* Folded, and behind which bytes a separator may stand. split: "\n" as an answer that is no JSON is read. */
static bool fold_with_gaps(const struct vault_entry *entry, bool split, struct buf *folded,
                           bool *gaps)
{
    struct backslashes backslashes = {0};
    struct sign sign = spell_at(entry->surrogate, 0, false);
    while (sign.kind != SIGN_END) {
        if (split)
            spell_split(&backslashes, entry->surrogate, false, &sign);
        struct sign next = spell_at(entry->surrogate, sign.end, false);
        if (spell_is_significant(&sign)) {
            char bytes[4];
            buf_append(folded, bytes, utf8_encode(sign.c, bytes));
            gaps[folded->len - 1] = entry->form == SURROGATE_LOOSE;
        } else if (sign.kind == SIGN_GAP && folded->len > 0 && entry->form != SURROGATE_WORD) {
            gaps[folded->len - 1] = true;
        }
        sign = next;
    }
    return !folded->failed && folded->len > 0;
}

/* Bytes before the first letter or digit, and from behind the last on. */
static size_t leading(struct td_str text)
{
    struct sign sign = spell_at(text, 0, false);
    while (sign.kind != SIGN_END && !spell_is_significant(&sign))
        sign = spell_at(text, sign.end, false);
    return sign.begin;
}

static size_t trailing(struct td_str text)
{
    size_t end = 0;
    for (struct sign sign = spell_at(text, 0, false); sign.kind != SIGN_END;
         sign = spell_at(text, sign.end, false))
        if (spell_is_significant(&sign))
            end = sign.end;
    return end;
}

/* A match begins and ends with a letter or digit: what both have around them stays where it is. */
static struct vault_entry without_frame(struct vault_entry entry)
{
    size_t begin = leading(entry.surrogate), end = trailing(entry.surrogate);
    struct td_str head = str_slice(entry.surrogate, 0, begin);
    struct td_str tail = str_slice(entry.surrogate, end, entry.surrogate.len);
    if (end <= begin)
        return entry;
    if (str_ends_with(entry.original, tail) && entry.original.len >= head.len + tail.len) {
        entry.original.len -= tail.len;
        entry.surrogate.len -= tail.len;
    }
    if (str_starts_with(entry.original, head)) {
        entry.original = str_slice(entry.original, begin, entry.original.len);
        entry.surrogate = str_slice(entry.surrogate, begin, entry.surrogate.len);
    }
    return entry;
}

static bool add_reading(struct restore_table *table, const struct vault_entry *entry,
                        uint32_t owner, bool split)
{
    struct buf folded;
    buf_init(&folded, VAULT_VALUE_BYTES_MAX * 8);
    bool *gaps = calloc(entry->surrogate.len * 4 + 1, sizeof *gaps);
    uint32_t index = (uint32_t)table->count, first = index;
    bool ok = gaps && fold_with_gaps(entry, split, &folded, gaps) &&
              automaton_add(table->automaton, buf_view(&folded), gaps, &first);
    if (ok) {
        table->entries[index] = *entry;
        table->owners[index] = owner;
        table->next_alike[index] = NONE;
        if (first != index) { /* behind the first of its kind */
            table->next_alike[index] = table->next_alike[first];
            table->next_alike[first] = index;
        }
        table->count++;
    }
    free(gaps);
    buf_deinit(&folded);
    return ok;
}

/* A line's end that is written \n in the surrogate may be one in the answer, or stay as it is. */
static bool add_entry(struct restore_table *table, const struct vault_entry *entry, uint32_t owner)
{
    return add_reading(table, entry, owner, false) &&
           (str_find(entry->surrogate, STR("\\"), 0) == SIZE_MAX ||
            add_reading(table, entry, owner, true));
}

/* --- dates in other forms --- */

/* Two days whose forms are spelled alike (day and month the other way round) are neither's. */
static bool is_anothers(const struct restore_table *table, const struct date_form *form)
{
    for (size_t i = 0; i < table->date_count; i++)
        if (strcmp(table->dates[i].surrogate, form->surrogate) == 0 &&
            strcmp(table->dates[i].original, form->original) != 0)
            return true;
    return false;
}

/* Dates that the request used, at most DATES_MAX. */
static size_t count_dates(const struct vault *vault, const struct vault_uses *uses)
{
    size_t count = 0;
    for (size_t i = 0; i < uses->count && count < DATES_MAX; i++)
        count += vault_at(vault, uses->entries[i]).kind == PRIVACY_DATE;
    return count;
}

static bool write_dates(struct restore_table *table, const struct vault *vault,
                        const struct vault_uses *uses, size_t days)
{
    if (days == 0)
        return true;
    table->dates = calloc(days * DATE_FORMS, sizeof *table->dates);
    for (size_t i = 0; table->dates && i < uses->count && days > 0; i++) {
        struct vault_entry entry = vault_at(vault, uses->entries[i]);
        if (entry.kind != PRIVACY_DATE)
            continue;
        days--;
        struct date_form *forms = table->dates + table->date_count;
        size_t count = date_forms_write(entry.surrogate, entry.original, forms);
        for (size_t k = 0; k < count; k++)
            forms[k].owner = (uint32_t)i;
        table->date_count += count;
    }
    return table->dates != NULL;
}

static bool add_dates(struct restore_table *table)
{
    bool ok = true;
    for (size_t i = 0; ok && i < table->date_count; i++) {
        const struct date_form *form = &table->dates[i];
        const struct vault_entry entry = {
            .kind = PRIVACY_DATE,
            .form = i % DATE_FORMS < DATE_FORMS_NUMERIC ? SURROGATE_STRICT : SURROGATE_LOOSE,
            .surrogate = str_from(form->surrogate),
            .original = str_from(form->original)};
        if (!is_anothers(table, form))
            ok = add_entry(table, &entry, form->owner);
    }
    return ok;
}

/* --- mail addresses by what stands before the @ --- */

static struct td_str local_part(struct td_str address)
{
    size_t at = str_find(address, STR("@"), 0);
    return at == SIZE_MAX ? (struct td_str){NULL, 0} : str_slice(address, 0, at);
}

/* Has another address that was used a surrogate of that local part? */
static bool is_shared(const struct restore_table *table, size_t own_count, uint32_t owner,
                      struct td_str local)
{
    for (size_t i = 0; i < own_count; i++)
        if (table->entries[i].kind == PRIVACY_EMAIL && table->owners[i] != owner &&
            str_equal(local_part(table->entries[i].surrogate), local))
            return true;
    return false;
}

/* "write to emily.carter123": without the host it still means the address's owner. */
static bool add_locals(struct restore_table *table, size_t own_count)
{
    bool ok = true;
    size_t left = LOCALS_MAX;
    for (size_t i = 0; ok && i < own_count && left > 0; i++) {
        struct vault_entry entry = table->entries[i];
        entry.surrogate = local_part(entry.surrogate);
        entry.original = local_part(entry.original);
        bool again = i > 0 && table->owners[i] == table->owners[i - 1]; /* in its other reading */
        if (again || entry.kind != PRIVACY_EMAIL ||
            spell_count(entry.surrogate) < LOCAL_SIGNS_MIN || entry.original.len == 0 ||
            is_shared(table, own_count, table->owners[i], entry.surrogate))
            continue;
        left--;
        ok = add_entry(table, &entry, table->owners[i]);
    }
    return ok;
}

struct restore_table *restore_table_new(const struct vault *vault, const struct vault_uses *uses)
{
    struct restore_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    table->automaton = automaton_new(NODES_MAX);
    /* Two readings of a surrogate and of its local part. */
    size_t days = count_dates(vault, uses), capacity = 4 * uses->count + days * DATE_FORMS + 1;
    table->entries = calloc(capacity, sizeof *table->entries);
    table->next_alike = calloc(capacity, sizeof *table->next_alike);
    table->owners = calloc(capacity, sizeof *table->owners);
    bool ok = table->automaton && table->entries && table->next_alike && table->owners;
    for (size_t i = 0; ok && i < uses->count; i++) {
        struct vault_entry entry = without_frame(vault_at(vault, uses->entries[i]));
        ok = add_entry(table, &entry, (uint32_t)i);
    }
    ok = ok && add_locals(table, table->count) && write_dates(table, vault, uses, days) &&
         add_dates(table); /* behind the vault's own, which go first */
    if (!ok || !automaton_seal(table->automaton)) {
        restore_table_free(table);
        return NULL;
    }
    table->ring = 16;
    while (table->ring < automaton_depth_max(table->automaton) + 8)
        table->ring *= 2;
    return table;
}

void restore_table_free(struct restore_table *table)
{
    if (table == NULL)
        return;
    automaton_free(table->automaton);
    if (table->dates)
        crypto_wipe(table->dates, table->date_count * sizeof *table->dates);
    free(table->dates);
    free(table->entries);
    free(table->next_alike);
    free(table->owners);
    free(table);
}

/* --- one stream --- */

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

/* Where the longest beginning of a surrogate that the last signs could be begins. */
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
        r->counts.seen++; /* the old one was not part of a match */
    if (!r->miss.on || begin >= r->miss.end)
        r->miss = (struct restore_match){true, begin, end};
}

static void pass_on(struct restorer *r, uint64_t end, struct buf *out)
{
    buf_append_str(out, between(r, r->base + r->head, end));
    r->head = (size_t)(end - r->base);
}

/* Writes the best match's value. Signs behind it may have been read as part of something longer. */
static void commit(struct restorer *r, struct buf *out)
{
    if (r->miss.on && r->miss.begin < r->best.end) {
        r->counts.seen += r->miss.end <= r->best.begin; /* else it was a part of this one */
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

/* A surrogate's last sign was read: is it one? False when what follows must be known first. */
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
                r->rescan = true; /* something longer may still swallow both */
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

static void take_sign(struct restorer *r, const struct sign *sign, bool behind_letter)
{
    char bytes[4];
    size_t count = utf8_encode(sign->c, bytes);
    bool starts = !r->after_sign || sign->unspaced || r->after_unspaced || behind_letter;
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
            bool behind_letter = r->backslashes.behind_letter;
            spell_split(&r->backslashes, buf_view(&r->pending), r->json, &sign);
            r->scanned = sign.end;
            if (sign.kind == SIGN_GAP) {
                r->gap_bytes += sign.end - sign.begin;
                r->after_sign = false;
                r->state = r->gap_bytes > RESTORE_GAP_BYTES_MAX
                               ? AUTOMATON_ROOT
                               : automaton_gap(automaton, r->state);
            } else if (sign.kind != SIGN_NOTHING) {
                take_sign(r, &sign, behind_letter);
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

/* What has been passed on leaves the buffer. */
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
