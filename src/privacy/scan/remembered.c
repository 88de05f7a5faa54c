/* A table of units by their hashes, in sets of four; in a full set the one that was not used for
 * longest goes.
 *
 * A unit is scanned with REACH bytes on both sides, whether anything is remembered or not. So what
 * is found is a function of the unit and its neighbours alone, which are in its hash, and never
 * depends on what was sent before. A finding depends on what stands near it, and on nothing farther
 * than REACH: the longest are texts in base64. A private key may be longer, but never goes beyond
 * its own text, and texts are not cut. A unit that is not the last of its section is longer than
 * the reach. Sections end at a pause of the reading, over which nothing reaches.
 *
 * Rejected: to keep the state of the pass at the end of what was known. Detectors read ahead, so a
 * state is sure only some way back, and twenty kilobytes for each turn. */
#include "privacy/scan/remembered.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"
#include "base/text/utf8.h"
#include "privacy/scan/rules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define REACH 3072u /* as a piece of encoded text (piece.h) */
#define UNIT_BYTES 8192u
#define KEY_BYTES 16
#define SETS 1024u /* 4096 units are 32 MB of conversations */
#define WAYS 4u
#define FINDINGS_MAX 64 /* of one unit; with more it is read again, so the table has a limit */

struct finding {
    int32_t begin, end; /* from the unit's begin; a finding may cross its borders */
    float score;
    uint8_t kind, data_class;
    bool guessed;
    const char *rule; /* the scanner's */
};

struct kept {
    uint8_t key[KEY_BYTES];
    uint64_t used; /* 0 = empty */
    struct finding *findings;
    size_t count;
};

struct scan_memory {
    pthread_mutex_t mutex;
    uint8_t key[KEYED_KEY_BYTES];
    uint64_t clock;
    struct scan_memory_counts counts;
    struct kept table[SETS * WAYS];
};

struct scan_memory *scan_memory_new(void)
{
    struct scan_memory *memory = calloc(1, sizeof *memory);
    if (memory && crypto_random(memory->key, sizeof memory->key, NULL) == TD_OK)
        pthread_mutex_init(&memory->mutex, NULL);
    else {
        free(memory);
        memory = NULL;
    }
    return memory;
}

static void empty(struct kept *kept)
{
    free(kept->findings);
    *kept = (struct kept){0};
}

void scan_memory_clear(struct scan_memory *memory)
{
    pthread_mutex_lock(&memory->mutex);
    for (size_t i = 0; i < SETS * WAYS; i++)
        empty(&memory->table[i]);
    pthread_mutex_unlock(&memory->mutex);
}

void scan_memory_free(struct scan_memory *memory)
{
    if (!memory)
        return;
    scan_memory_clear(memory);
    pthread_mutex_destroy(&memory->mutex);
    free(memory);
}

struct scan_memory_counts scan_memory_count(struct scan_memory *memory)
{
    pthread_mutex_lock(&memory->mutex);
    struct scan_memory_counts counts = memory->counts;
    pthread_mutex_unlock(&memory->mutex);
    return counts;
}

/* --- units --- */

struct unit {
    size_t begin, end;
    bool rested;      /* the first of a section */
    uint64_t key[2];  /* KEY_BYTES */
    bool known;       /* its findings are remembered, and stand in `findings` of the scan */
    size_t at, count; /* there */
};
_Static_assert(sizeof(uint64_t[2]) == KEY_BYTES, "a key is two words");

struct scan {
    struct scan_memory *memory;
    const struct reading *reading;
    struct unit *units;
    size_t count;
    uint8_t (*macs)[KEYED_MAC_BYTES]; /* of each unit alone */
    struct spans findings;            /* of units that are known */
};

/* The parts of a text say where it ends, which some detectors and an operator's rules ask. */
static void hash_unit(struct scan *scan, size_t number, size_t first, size_t end, struct buf *shape)
{
    const struct unit *unit = &scan->units[number];
    struct td_str text = str_slice(buf_view(&scan->reading->text), unit->begin, unit->end);
    uint8_t mac[KEYED_MAC_BYTES];
    if (!scan->memory)
        return;
    buf_clear(shape);
    keyed_mac(scan->memory->key, text.data, text.len, mac);
    buf_append(shape, mac, sizeof mac);
    for (size_t i = first; i < end; i++) {
        const struct reading_part *part = &scan->reading->parts[i];
        const uint64_t row[3] = {part->begin - unit->begin, part->end - unit->begin, part->goes_on};
        buf_append(shape, row, sizeof row);
    }
    keyed_mac(scan->memory->key, shape->data, shape->len, scan->macs[number]);
}

/* Cuts the reading at texts' begins. */
static bool cut(struct scan *scan)
{
    const struct reading *reading = scan->reading;
    size_t most = reading->text.len / UNIT_BYTES + reading->count + 1, first = 0;
    struct buf shape;
    buf_init(&shape, SIZE_MAX / 2);
    scan->units = calloc(most, sizeof *scan->units);
    scan->macs = calloc(most, sizeof *scan->macs);
    bool ok = scan->units && scan->macs;
    for (size_t i = 1; ok && i <= reading->count; i++) {
        const struct reading_part *part = i < reading->count ? &reading->parts[i] : NULL;
        struct unit *unit = &scan->units[scan->count];
        unit->begin = scan->count > 0 ? unit[-1].end : 0;
        unit->end = part ? part->begin : reading->text.len;
        unit->rested = scan->count == 0 || reading->parts[first].rested;
        if (part && (part->goes_on || (!part->rested && unit->end - unit->begin < UNIT_BYTES)))
            continue;
        hash_unit(scan, scan->count++, first, i, &shape);
        first = i;
        ok = !shape.failed;
    }
    buf_deinit(&shape);
    return ok;
}

static void name_units(struct scan *scan, struct td_str caller)
{
    struct {
        uint8_t caller[KEYED_MAC_BYTES], macs[3][KEYED_MAC_BYTES];
    } all;
    uint8_t mac[KEYED_MAC_BYTES];
    keyed_mac(scan->memory->key, caller.data, caller.len, all.caller);
    for (size_t i = 0; i < scan->count; i++) {
        memset(all.macs, 0, sizeof all.macs);
        if (!scan->units[i].rested)
            memcpy(all.macs[0], scan->macs[i - 1], KEYED_MAC_BYTES);
        memcpy(all.macs[1], scan->macs[i], KEYED_MAC_BYTES);
        if (i + 1 < scan->count && !scan->units[i + 1].rested)
            memcpy(all.macs[2], scan->macs[i + 1], KEYED_MAC_BYTES);
        keyed_mac(scan->memory->key, &all, sizeof all, mac);
        memcpy(scan->units[i].key, mac, KEY_BYTES);
    }
}

/* --- the table --- */

static struct kept *set_of(struct scan_memory *memory, const struct unit *unit)
{
    return &memory->table[unit->key[0] % SETS * WAYS];
}

static void recall_locked(struct scan *scan, struct unit *unit)
{
    struct kept *set = set_of(scan->memory, unit);
    for (size_t way = 0; way < WAYS; way++) {
        struct kept *kept = &set[way];
        if (kept->used == 0 || memcmp(kept->key, unit->key, KEY_BYTES) != 0)
            continue;
        kept->used = ++scan->memory->clock;
        unit->known = true;
        unit->at = scan->findings.count;
        unit->count = kept->count;
        for (size_t i = 0; i < kept->count; i++) {
            const struct finding *finding = &kept->findings[i];
            const struct privacy_span span = {
                .kind = (enum privacy_kind)finding->kind,
                .begin = (size_t)((int64_t)unit->begin + finding->begin),
                .end = (size_t)((int64_t)unit->begin + finding->end),
                .score = finding->score,
                .data_class = (enum td_data_class)finding->data_class,
                .guessed = finding->guessed,
                .rule = finding->rule,
            };
            spans_add(&scan->findings, &span);
        }
        return;
    }
}

static void recall(struct scan *scan)
{
    pthread_mutex_lock(&scan->memory->mutex);
    for (size_t i = 0; i < scan->count; i++) {
        struct unit *unit = &scan->units[i];
        recall_locked(scan, unit);
        *(unit->known ? &scan->memory->counts.remembered : &scan->memory->counts.scanned) +=
            unit->end - unit->begin;
    }
    pthread_mutex_unlock(&scan->memory->mutex);
}

/* A rule may have run out of time because the machine was busy: the next scan tries again. */
static bool ran_out(const struct privacy_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].rule && strcmp(spans[i].rule, PRIVACY_RULE_OVER_LIMIT) == 0)
            return true;
    return false;
}

static void remember(struct scan_memory *memory, const struct unit *unit,
                     const struct privacy_span *spans, size_t count)
{
    if (count > FINDINGS_MAX || ran_out(spans, count))
        return;
    struct finding *findings = count ? malloc(count * sizeof *findings) : NULL;
    if (count && !findings)
        return;
    for (size_t i = 0; i < count; i++)
        findings[i] = (struct finding){
            .begin = (int32_t)((int64_t)spans[i].begin - (int64_t)unit->begin),
            .end = (int32_t)((int64_t)spans[i].end - (int64_t)unit->begin),
            .score = spans[i].score,
            .kind = (uint8_t)spans[i].kind,
            .data_class = (uint8_t)spans[i].data_class,
            .guessed = spans[i].guessed,
            .rule = spans[i].rule,
        };
    pthread_mutex_lock(&memory->mutex);
    struct kept *set = set_of(memory, unit), *place = set;
    for (size_t way = 1; way < WAYS; way++)
        if (set[way].used < place->used)
            place = &set[way];
    empty(place);
    memcpy(place->key, unit->key, KEY_BYTES);
    place->used = ++memory->clock;
    place->findings = findings;
    place->count = count;
    pthread_mutex_unlock(&memory->mutex);
}

/* --- what is not known --- */

/* A finding that crosses a border is told by the units on both of its sides. */
static void add_once(struct spans *out, const struct privacy_span *span)
{
    const struct privacy_span *last = out->count > 0 ? &out->spans[out->count - 1] : NULL;
    if (!last || last->end < span->end || last->data_class < span->data_class ||
        (last->guessed && !span->guessed))
        spans_add(out, span);
}

/* Half a line of base64 is not what the line is. */
static size_t line_begin(struct td_str text, size_t from, size_t end)
{
    const char *mark = from > 0 ? memchr(text.data + from, '\n', (end - from) / 2) : NULL;
    return mark ? (size_t)(mark - text.data) : utf8_character_begin(text, from);
}

/* Scans a unit with what stands around it. */
static bool scan_unit(struct scan *scan, size_t number, scan_range_fn *read, void *ctx,
                      struct spans *out)
{
    const struct unit *unit = &scan->units[number];
    struct td_str text = buf_view(&scan->reading->text);
    size_t from = unit->begin, to = unit->end;
    if (!unit->rested)
        from = line_begin(text, from < REACH ? 0 : from - REACH, from);
    if (number + 1 < scan->count && !unit[1].rested)
        to = utf8_character_begin(text, to + REACH < unit[1].end ? to + REACH : unit[1].end);
    struct spans found = {0};
    bool whole = read(ctx, from, to, &found) && !found.failed;
    size_t first = 0;
    while (first < found.count && found.spans[first].end <= unit->begin)
        first++;
    size_t end = first;
    while (end < found.count && found.spans[end].begin < unit->end)
        add_once(out, &found.spans[end++]);
    if (whole && scan->memory)
        remember(scan->memory, unit, found.spans + first, end - first);
    free(found.spans);
    return !found.failed;
}

bool scan_memory_find(struct scan_memory *memory, const struct reading *reading,
                      struct td_str caller, scan_range_fn *read, void *ctx, struct spans *out)
{
    ASSERT(reading && !reading->failed && reading->count > 0);
    struct scan scan = {.memory = memory, .reading = reading};
    bool ok = cut(&scan);
    if (ok && memory) {
        name_units(&scan, caller);
        recall(&scan);
        ok = !scan.findings.failed;
    }
    for (size_t i = 0; ok && i < scan.count; i++) {
        const struct unit *unit = &scan.units[i];
        if (!unit->known)
            ok = scan_unit(&scan, i, read, ctx, out);
        for (size_t k = 0; unit->known && k < unit->count; k++)
            add_once(out, &scan.findings.spans[unit->at + k]);
    }
    free(scan.units);
    free(scan.macs);
    free(scan.findings.spans);
    return ok && !out->failed;
}
