/* Opening the table of words, and the sketch. The sum over words is one pass of additions on 128
 * numbers, which compilers turn into vector instructions. A word that is repeated counts once, or a
 * text could be pushed anywhere by saying one word often. */
#include "router/judge/similarity.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/crypto/hash.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "TDSIMILR"
#define VERSION 1u
#define HEADER_BYTES 64
#define HASHED_FROM 24
#define WORD_BYTES_MAX 32
/* A word and a blank are two bytes at least. */
#define WORDS_MAX (UTTERANCE_BYTES_MAX / 2 + 1)
#define SEEN_SLOTS 2048 /* at most a quarter full */
_Static_assert(SEEN_SLOTS >= 2 * WORDS_MAX, "the set of an utterance's words has room");

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "similarity tables are little-endian and used as they are"
#endif

struct slot {
    uint32_t tag, row;
};

struct header {
    char magic[8];
    uint32_t version, unknown;
    uint64_t hash;
    uint32_t words, slots;
    uint8_t zeros[32];
};
_Static_assert(sizeof(struct header) == HEADER_BYTES, "as in the file");

struct similarity {
    uint64_t hash;
    int8_t unknown; /* 1..127 */
    uint32_t slot_mask, words;
    const struct slot *slots; /* [slot_mask + 1]; NULL = no words */
    const int8_t *rows;       /* [words][SIMILARITY_BITS] */
    void *memory;             /* a copy of the file's contents, or NULL */
    struct td_str mapping;    /* of the file; or no bytes */
};

const struct similarity similarity_plain = {.unknown = 1};

/* --- the file --- */

static enum td_status check_header(const struct header *header, size_t bytes, struct td_error *err)
{
    if (memcmp(header->magic, MAGIC, sizeof header->magic) != 0)
        return error_set(err, TD_INVALID, "not a similarity table: it does not begin with " MAGIC);
    if (header->version != VERSION)
        return error_set(err, TD_INVALID,
                         "similarity table of format version %u, this program reads %u",
                         header->version, VERSION);
    bool power = header->slots && (header->slots & (header->slots - 1)) == 0;
    if (header->unknown < 1 || header->unknown > 127 || !power || header->words >= header->slots)
        return error_set(err, TD_INVALID,
                         "similarity table with a broken header: %u words in %u slots, unknown "
                         "words %u",
                         header->words, header->slots, header->unknown);
    uint64_t expected = HEADER_BYTES + (uint64_t)header->slots * sizeof(struct slot) +
                        (uint64_t)header->words * SIMILARITY_BITS;
    if (bytes != expected)
        return error_set(err, TD_INVALID,
                         "similarity table has %zu bytes, its header says %llu: it is cut or was "
                         "appended to",
                         bytes, (unsigned long long)expected);
    return TD_OK;
}

/* Every row is there, and a search ends: one slot at least is empty. */
static bool slots_are_good(const struct similarity *table)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i <= table->slot_mask; i++) {
        if (table->slots[i].tag == 0)
            continue;
        used++;
        if (table->slots[i].row >= table->words)
            return false;
    }
    return used <= table->slot_mask;
}

/* The table **borrows** the file, which is aligned as memory of malloc is. */
static enum td_status read_in_place(struct td_str file, struct similarity **out,
                                    struct td_error *err)
{
    struct header header;
    if (file.len < sizeof header || file.len > SIMILARITY_BYTES_MAX)
        return error_set(err, TD_INVALID,
                         "a similarity table has between %zu and %u bytes, this has %zu",
                         sizeof header, SIMILARITY_BYTES_MAX, file.len);
    memcpy(&header, file.data, sizeof header);
    enum td_status status = check_header(&header, file.len, err);
    if (status != TD_OK)
        return status;
    if (hash_words64(file.data + HASHED_FROM, file.len - HASHED_FROM) != header.hash)
        return error_set(
            err, TD_INVALID,
            "similarity table is damaged: its contents do not have the hash in its header");
    struct similarity *table = calloc(1, sizeof *table);
    if (!table)
        return error_set(err, TD_NO_MEMORY, "no memory for a similarity table");
    const char *contents = file.data + sizeof header;
    *table = (struct similarity){
        .hash = header.hash,
        .unknown = (int8_t)header.unknown,
        .slot_mask = header.slots - 1,
        .words = header.words,
        .slots = (const struct slot *)(const void *)contents,
        .rows = (const int8_t *)contents + (size_t)header.slots * sizeof(struct slot),
    };
    if (!slots_are_good(table)) {
        similarity_close(table);
        return error_set(err, TD_INVALID,
                         "similarity table names a word that it does not have, or is full");
    }
    *out = table;
    return TD_OK;
}

enum td_status similarity_read(struct td_str file, struct similarity **out, struct td_error *err)
{
    char *memory = malloc(file.len + 1);
    if (!memory)
        return error_set(err, TD_NO_MEMORY, "no memory for a similarity table");
    if (file.len > 0)
        memcpy(memory, file.data, file.len);
    enum td_status status = read_in_place((struct td_str){memory, file.len}, out, err);
    if (status == TD_OK)
        (*out)->memory = memory;
    else
        free(memory);
    return status;
}

/* Mapped, so that only what questions ask for takes memory. */
enum td_status similarity_open(const char *path, struct similarity **out, struct td_error *err)
{
    struct td_str file;
    enum td_status status = file_map(path, SIMILARITY_BYTES_MAX, &file, err);
    if (status != TD_OK)
        return status;
    status = read_in_place(file, out, err);
    if (status != TD_OK) {
        file_unmap(file);
        return error_prefix(err, "%s", path), status;
    }
    /* The check has read all of it. */
    file_rest(file);
    (*out)->mapping = file;
    return TD_OK;
}

void similarity_close(struct similarity *similarity)
{
    if (!similarity)
        return;
    free(similarity->memory);
    file_unmap(similarity->mapping);
    free(similarity);
}

uint64_t similarity_hash(const struct similarity *similarity)
{
    return similarity->hash;
}

/* --- words --- */

static bool is_word_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
}

/* The next word's hash; false at the end. */
static bool next_word(const struct utterance *utterance, size_t *at, uint64_t *hash)
{
    const char *text = utterance->text;
    size_t i = *at, len = 0;
    while (i < utterance->len && !is_word_byte((unsigned char)text[i]))
        i++;
    if (i == utterance->len)
        return false;
    bool number = text[i] >= '0' && text[i] <= '9';
    uint64_t word = HASH_FNV1A64_BASIS;
    for (; i < utterance->len; i++) {
        if (!is_word_byte((unsigned char)text[i])) {
            /* "don't" is "dont": the apostrophe stands between letters */
            bool joins = text[i] == '\'' && i + 1 < utterance->len &&
                         is_word_byte((unsigned char)text[i + 1]);
            if (!joins)
                break;
        } else if (len < WORD_BYTES_MAX) {
            word = hash_fnv1a64_byte(word, (uint8_t)text[i]);
            len++;
        }
    }
    *hash = number ? hash_fnv1a64_byte(HASH_FNV1A64_BASIS, '0') : word;
    *at = i;
    return true;
}

/* Was it there before? Remembers it. */
static bool is_seen(uint64_t seen[static SEEN_SLOTS], uint64_t hash)
{
    size_t i = hash % SEEN_SLOTS;
    hash |= 1; /* 0 = empty */
    while (seen[i] && seen[i] != hash)
        i = (i + 1) % SEEN_SLOTS;
    bool before = seen[i] == hash;
    seen[i] = hash;
    return before;
}

static const int8_t *find_row(const struct similarity *table, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    if (!table->slots || tag == 0)
        return NULL;
    for (uint32_t i = (uint32_t)hash & table->slot_mask; table->slots[i].tag;
         i = (i + 1) & table->slot_mask)
        if (table->slots[i].tag == tag)
            return table->rows + (size_t)table->slots[i].row * SIMILARITY_BITS;
    return NULL;
}

/* The row of a word that the table does not know: bit by bit of its hash ±unknown. Eight bits at a
 * time become eight bytes, each of which is zero or not, which a compiler turns into vector
 * instructions. */
static void write_unknown(int8_t row[static SIMILARITY_BITS], uint64_t hash, int8_t unknown)
{
    for (size_t at = 0; at < SIMILARITY_BITS; at += 8) {
        uint64_t bits = hash_mix64(hash + at / 64) >> at % 64 & 0xFF;
        uint64_t spread = bits * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
        uint8_t lanes[8];
        memcpy(lanes, &spread, sizeof lanes);
        for (size_t i = 0; i < 8; i++)
            row[at + i] = lanes[i] ? unknown : (int8_t)-unknown;
    }
}

void similarity_sketch(const struct similarity *similarity, const struct utterance *utterance,
                       struct sketch *out)
{
    int32_t sum[SIMILARITY_BITS] = {0};
    uint64_t seen[SEEN_SLOTS] = {0}, hash;
    *out = (struct sketch){0};
    for (size_t at = 0; next_word(utterance, &at, &hash);) {
        if (is_seen(seen, hash))
            continue;
        out->known = true;
        int8_t unknown[SIMILARITY_BITS];
        const int8_t *row = find_row(similarity, hash);
        if (!row)
            write_unknown(unknown, hash, similarity->unknown);
        row = row ? row : unknown;
        for (size_t i = 0; i < SIMILARITY_BITS; i++)
            sum[i] += row[i];
    }
    for (size_t i = 0; i < SIMILARITY_BITS; i++)
        out->bits[i / 64] |= (uint64_t)(sum[i] > 0) << i % 64;
}
