#include "exchange/private/document_reader.h"

#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"

#include <math.h>
#include <stdlib.h>

#define WORD_LETTERS 5 /* of a word that count */
#define TERMS_MAX 64   /* of a job: the bits of a mask */
#define HEADING_BYTES_MAX 80
#define SENTENCE_BYTES_MIN 30 /* "Dr." and "No." end none */
#define PASSAGES_FINE 100000  /* beyond so many they end only where they are too long */
/* A word in more than this share of the passages says nothing of one of them; in a short text a
 * few may have it. */
#define COMMON_SHARE 0.2
#define COMMON_MIN 3
/* Of the best passage's score that a further one must have. */
#define NEAR_BEST 0.7

struct passage {
    struct td_str text;
    size_t document;
    uint32_t chunk;
    size_t heading; /* the passage before it that is one; SIZE_MAX = none */
    size_t word_begin, word_end;
};

struct document_reader {
    struct passage *passages;
    size_t passage_count, passage_capacity;
    uint32_t *words; /* hashes, passage by passage */
    size_t word_count, word_capacity;
    uint64_t *masks; /* [passage_count] of the terms that a job finds there */
};

struct terms {
    uint32_t hashes[TERMS_MAX];
    double weights[TERMS_MAX]; /* 1, or a half of the task's own words */
    size_t count;
    size_t own; /* the first so many are the job's words */
    uint64_t sieve[4];
};

/* --- words --- */

/* Where no spaces stand between words, each character is one. */
static bool stands_alone(uint32_t c)
{
    return (c >= 0x2E80 && c < 0xA000) || (c >= 0xAC00 && c < 0xD7B0) || (c >> 16) == 2;
}

/* The hash of the next word at or after *at; 0 when there is none. */
static uint32_t next_word(struct td_str text, size_t *at)
{
    uint64_t hash = HASH_FNV1A64_BASIS;
    uint32_t last = 0;
    size_t letters = 0;
    bool number = false, plural = false;
    while (*at < text.len) {
        size_t before = *at;
        uint32_t c = utf8_next(text, at);
        uint16_t class = unicode_class_of(c);
        if (!(class & (UNICODE_LETTER | UNICODE_NUMBER | UNICODE_ANY_MARK))) {
            if (letters > 0)
                break;
            continue;
        }
        if (stands_alone(c) && letters > 0) {
            *at = before;
            break;
        }
        number = number || (class & UNICODE_NUMBER) != 0;
        c = unicode_lower(c);
        plural = letters >= 3 && letters < WORD_LETTERS && c == 's' && !number;
        if (last && (letters <= WORD_LETTERS || number))
            hash = hash_fnv1a64(&last, sizeof last, hash);
        last = c;
        letters++;
        if (stands_alone(c))
            break;
    }
    if (letters == 0)
        return 0;
    if (!plural && (letters <= WORD_LETTERS || number))
        hash = hash_fnv1a64(&last, sizeof last, hash);
    return (uint32_t)(hash ^ hash >> 32) | 1;
}

/* --- reading the texts --- */

static bool grow(void **items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity ? 2 * *capacity : 256;
    void *grown = realloc(*items, more * size);
    if (!grown) {
        shortage_note();
        return false;
    }
    *items = grown;
    *capacity = more;
    return true;
}

static bool add_words(struct document_reader *reader, struct td_str text)
{
    size_t at = 0;
    for (uint32_t hash; (hash = next_word(text, &at)) != 0;) {
        if (!grow((void **)&reader->words, &reader->word_capacity, reader->word_count,
                  sizeof *reader->words))
            return false;
        reader->words[reader->word_count++] = hash;
    }
    return true;
}

static bool is_one_of(char c, const char *characters)
{
    return c != '\0' && strchr(characters, c) != NULL;
}

/* Where the passage ends that begins at `begin`: behind a line, a sentence, or at a space before it
 * is too long. */
static size_t passage_end(struct td_str text, size_t begin, bool fine)
{
    size_t space = 0;
    for (size_t i = begin; i + 1 < text.len; i++) {
        char c = text.data[i];
        bool sentence = is_one_of(c, ".!?;") && is_one_of(text.data[i + 1], " \t\r\n");
        if (fine && (c == '\n' || (sentence && i - begin >= SENTENCE_BYTES_MIN)))
            return i + 1;
        if (c == ' ')
            space = i + 1;
        if (i - begin + 1 == DOCUMENT_PASSAGE_BYTES_MAX)
            return space > begin ? space : utf8_character_begin(text, i + 1);
    }
    return text.len;
}

static bool is_heading(struct td_str text)
{
    return text.len > 0 && text.len <= HEADING_BYTES_MAX &&
           !is_one_of(text.data[text.len - 1], ".,;!?");
}

static bool add_passage(struct document_reader *reader, struct passage passage, size_t *heading)
{
    if (!grow((void **)&reader->passages, &reader->passage_capacity, reader->passage_count,
              sizeof *reader->passages))
        return false;
    passage.heading = *heading;
    passage.word_begin = reader->word_count;
    bool ok = add_words(reader, passage.text);
    passage.word_end = reader->word_count;
    if (is_heading(passage.text))
        *heading = reader->passage_count;
    reader->passages[reader->passage_count++] = passage;
    return ok;
}

static bool read_document(struct document_reader *reader, size_t document, struct td_str text,
                          uint32_t chunks_before)
{
    size_t heading = SIZE_MAX;
    for (size_t begin = 0; begin < text.len;) {
        size_t end = passage_end(text, begin, reader->passage_count < PASSAGES_FINE);
        const struct passage passage = {
            .text = str_trim(str_slice(text, begin, end)),
            .document = document,
            .chunk = chunks_before + (uint32_t)(begin / DOCUMENT_CHUNK_BYTES) + 1,
        };
        if (passage.text.len > 0 && !add_passage(reader, passage, &heading))
            return false;
        begin = end;
    }
    return true;
}

struct document_reader *document_reader_new(const struct documents *documents)
{
    struct document_reader *reader = calloc(1, sizeof *reader);
    uint32_t chunks = 0;
    bool ok = reader != NULL;
    for (size_t i = 0; ok && i < documents->count; i++) {
        ok = read_document(reader, i, documents->texts[i], chunks);
        chunks += documents->chunks[i];
    }
    if (ok)
        reader->masks = calloc(reader->passage_count + 1, sizeof *reader->masks);
    if (ok && reader->masks)
        return reader;
    shortage_note();
    document_reader_free(reader);
    return NULL;
}

void document_reader_free(struct document_reader *reader)
{
    if (!reader)
        return;
    free(reader->passages);
    free(reader->words);
    free(reader->masks);
    free(reader);
}

/* --- jobs --- */

static void add_terms(struct terms *terms, struct td_str text, double weight)
{
    size_t at = 0;
    for (uint32_t hash; terms->count < TERMS_MAX && (hash = next_word(text, &at)) != 0;) {
        size_t i = 0;
        while (i < terms->count && terms->hashes[i] != hash)
            i++;
        if (i < terms->count)
            continue;
        terms->hashes[terms->count] = hash;
        terms->weights[terms->count++] = weight;
        terms->sieve[hash >> 30] |= UINT64_C(1) << (hash >> 24 & 63);
    }
}

/* Which terms stand in each passage where the job looks, and in how many each. */
static void mark(struct document_reader *reader, const struct document_job *job,
                 const struct terms *terms, size_t in[static TERMS_MAX])
{
    for (size_t p = 0; p < reader->passage_count; p++) {
        const struct passage *passage = &reader->passages[p];
        uint64_t mask = 0;
        for (size_t w = passage->word_begin; w < passage->word_end; w++) {
            uint32_t hash = reader->words[w];
            if (!(terms->sieve[hash >> 30] >> (hash >> 24 & 63) & 1))
                continue;
            for (size_t t = 0; t < terms->count; t++)
                if (terms->hashes[t] == hash)
                    mask |= UINT64_C(1) << t;
        }
        reader->masks[p] = mask;
        if (passage->chunk < job->chunk_from || passage->chunk > job->chunk_to)
            continue;
        for (size_t t = 0; t < terms->count; t++)
            in[t] += mask >> t & 1;
    }
}

/* What the terms of a mask are worth; *telling: one of the job's own words is rare. */
static double worth(const struct terms *terms, const double value[static TERMS_MAX],
                    const bool rare[static TERMS_MAX], uint64_t mask, bool *telling)
{
    double sum = 0;
    for (size_t t = 0; t < terms->count; t++)
        if (mask >> t & 1) {
            sum += value[t] * terms->weights[t];
            *telling = *telling || (rare[t] && t < terms->own);
        }
    return sum;
}

static double score(const struct document_reader *reader, const struct terms *terms, size_t passage,
                    const double value[static TERMS_MAX], const bool rare[static TERMS_MAX])
{
    uint64_t mask = reader->masks[passage];
    size_t heading = reader->passages[passage].heading;
    bool telling = false;
    double sum = worth(terms, value, rare, mask, &telling);
    if (heading != SIZE_MAX)
        sum += worth(terms, value, rare, reader->masks[heading] & ~mask, &telling) / 2;
    return telling ? sum : 0;
}

static void insert(struct document_quote out[static DOCUMENT_QUOTES_MAX],
                   double scores[static DOCUMENT_QUOTES_MAX], size_t *count,
                   const struct document_quote *quote, double value)
{
    size_t at = *count;
    while (at > 0 && scores[at - 1] < value)
        at--;
    if (at == DOCUMENT_QUOTES_MAX)
        return;
    *count += *count < DOCUMENT_QUOTES_MAX;
    for (size_t i = *count - 1; i > at; i--) {
        out[i] = out[i - 1];
        scores[i] = scores[i - 1];
    }
    out[at] = *quote;
    scores[at] = value;
}

size_t document_reader_find(struct document_reader *reader, const struct document_job *job,
                            struct document_quote out[static DOCUMENT_QUOTES_MAX])
{
    struct terms terms = {0};
    size_t in[TERMS_MAX] = {0}, count = 0;
    double value[TERMS_MAX], scores[DOCUMENT_QUOTES_MAX];
    bool rare[TERMS_MAX];
    for (size_t i = 0; i < job->word_count; i++)
        add_terms(&terms, job->words[i], 1);
    terms.own = terms.count;
    add_terms(&terms, job->task, 0.5);
    if (terms.own == 0)
        terms.own = terms.count;
    mark(reader, job, &terms, in);
    double common = fmax(COMMON_SHARE * (double)reader->passage_count, COMMON_MIN);
    for (size_t t = 0; t < terms.count; t++) {
        value[t] = in[t] ? log1p((double)reader->passage_count / (double)in[t]) : 0;
        rare[t] = in[t] > 0 && (double)in[t] <= common;
    }
    for (size_t p = 0; p < reader->passage_count; p++) {
        const struct passage *passage = &reader->passages[p];
        const struct document_quote quote = {p, passage->document, passage->text};
        double points = score(reader, &terms, p, value, rare);
        if (points > 0 && passage->chunk >= job->chunk_from && passage->chunk <= job->chunk_to)
            insert(out, scores, &count, &quote, points);
    }
    while (count > 1 && scores[count - 1] < NEAR_BEST * scores[0])
        count--;
    return count;
}
