/* Finds the traces of names and numbers for a strict scan.
 *
 * The words of all found names go into one hash table of fixed size; then the text is read once
 * more and each word is looked up. If a text has more names than the table holds, the tagger has
 * still found them. An ordinary word of the language counts only with a capital. */
#include "privacy/scan/traces.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <stdlib.h>

#define SLOTS 4096u /* of names' parts; a text with more of them has had its names found */
#define FILLED_MAX (SLOTS * 3 / 4)
#define CODE_DIGITS_MIN 5   /* beside capitals: "C1203345" */
#define NUMBER_DIGITS_MIN 8 /* alone; shorter ones are amounts and years */

/* A word of a name. */
struct part {
    uint32_t hash; /* 0: none */
    uint8_t kind;
    bool ordinary; /* a word of the language as well: it is the name where it has a capital */
};

struct parts {
    struct part slots[SLOTS];
    size_t count;
};

static struct part *part_at(struct parts *parts, uint32_t hash)
{
    uint32_t slot = hash % SLOTS;
    while (parts->slots[slot].hash != 0 && parts->slots[slot].hash != hash)
        slot = (slot + 1) % SLOTS;
    return &parts->slots[slot];
}

static bool has_capital(const struct tagger_word *word)
{
    return word->shape >= SHAPE_TITLE && word->shape <= SHAPE_CAMEL;
}

/* Which words of a name tell of it where they stand alone: those that are no ordinary words, and of
 * persons and of names of one word those too. */
static void add_parts(struct parts *parts, const struct name_finder *names, struct td_str text,
                      const struct privacy_span *name)
{
    struct tagger_reader reader;
    struct tagger_word word;
    struct td_str own = str_slice(text, name->begin, name->end);
    tagger_reader_init(&reader, own);
    while (tagger_read(&reader, &word) && parts->count < FILLED_MAX) {
        uint16_t classes = name_finder_classes(names, word.hash);
        bool alone = word.begin == 0 && word.end == own.len;
        bool ordinary = (classes & CLASS_ORDINARY) != 0;
        if (word.length < 3 || word.shape >= SHAPE_DIGITS ||
            (classes & (CLASS_FUNCTION | CLASS_TITLE | CLASS_PARTICLE)) ||
            (ordinary && !(alone || name->kind == PRIVACY_PERSON)) ||
            (ordinary && !has_capital(&word)))
            continue;
        struct part *part = part_at(parts, word.hash);
        parts->count += part->hash == 0;
        *part = (struct part){word.hash, (uint8_t)name->kind, ordinary};
    }
}

static bool is_name(enum privacy_kind kind)
{
    return kind == PRIVACY_PERSON || kind == PRIVACY_PLACE || kind == PRIVACY_ORGANIZATION;
}

static bool is_code(struct td_str text, const struct tagger_word *word)
{
    size_t digits = 0, capitals = 0;
    for (size_t i = word->begin; i < word->end; i++) {
        digits += text.data[i] >= '0' && text.data[i] <= '9';
        capitals += text.data[i] >= 'A' && text.data[i] <= 'Z';
    }
    if (digits + capitals != word->end - word->begin)
        return false;
    return digits >= NUMBER_DIGITS_MIN || (digits >= CODE_DIGITS_MIN && capitals > 0);
}

bool traces_find(const struct name_finder *names, struct td_str text, const struct spans *found,
                 span_fn *emit, void *ctx)
{
    ASSERT(names != NULL && found != NULL && !found->failed && emit != NULL);
    struct parts *parts = calloc(1, sizeof *parts);
    struct tagger_reader reader;
    struct tagger_word word;
    size_t next = 0;
    if (parts == NULL)
        return false;
    for (size_t i = 0; i < found->count; i++)
        if (is_name(found->spans[i].kind))
            add_parts(parts, names, text, &found->spans[i]);
    tagger_reader_init(&reader, text);
    while (tagger_read(&reader, &word)) {
        while (next < found->count && found->spans[next].end <= word.begin)
            next++;
        if (next < found->count && found->spans[next].begin < word.end)
            continue;
        struct privacy_span span = {
            .begin = word.begin, .end = word.end, .score = NAME_STRICT_SCORE_MIN};
        const struct part *part = part_at(parts, word.hash);
        if (part->hash != 0 && (!part->ordinary || has_capital(&word)))
            span.kind = (enum privacy_kind)part->kind;
        else if (word.length >= CODE_DIGITS_MIN && word.shape >= SHAPE_DIGITS &&
                 is_code(text, &word))
            span.kind = PRIVACY_ID;
        else
            continue;
        span.data_class = TD_CLASS_SENSITIVE;
        emit(ctx, &span);
    }
    free(parts);
    return true;
}
