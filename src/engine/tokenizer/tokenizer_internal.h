/* What tokenizer_load.c builds (with tokenizer_lookup.c) and tokenizer.c and tokenizer_merge.c
 * read. */
#ifndef ENGINE_TOKENIZER_INTERNAL_H
#define ENGINE_TOKENIZER_INTERNAL_H

#include "base/hash.h"
#include "base/str.h"
#include "base/utf8.h"
#include "engine/tokenizer/pretokenizer.h"
#include "engine/tokenizer/tokenizer.h"

/* tokenizer.ggml.token_type */
enum token_type {
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN = 2,
    TOKEN_CONTROL = 3,
    TOKEN_USER_DEFINED = 4,
    TOKEN_UNUSED = 5,
    TOKEN_BYTE = 6
};

struct token {
    const char *text; /* in the mapping; byte-level BPE: each byte as one printable character */
    uint32_t len;
    uint8_t type;
    bool is_end;      /* ends a generation */
    bool in_marks;    /* an ordinary token that is cut out where special tokens are parsed */
    bool strip_right; /* swallows the white space after it (Phi-3) */
};

/* Open addressing, linear probing, at most two thirds full. A slot is 0 or hash bits << 32 | (value
 * + 1); what the two halves mean is the matter of each table's functions. */
struct slot_table {
    uint64_t *slots;
    uint32_t mask;
};

struct tokenizer {
    struct token *tokens; /* [count] */
    uint32_t count;
    struct slot_table ids; /* text -> id */

    char *pieces;            /* bytes of all pieces, one after another */
    uint32_t *piece_offsets; /* [count + 1] */

    bool sentencepiece;
    /* Byte-level BPE */
    const struct pretokenizer *pre;
    const char *merges; /* text of the first merge; merges are known by their offset from here */
    struct slot_table merge_offsets; /* "left right" -> offset, which grows with the rank */
    uint32_t merge_len_max;
    /* SentencePiece */
    uint32_t *priorities; /* [count] from the scores: lower is merged first */
    bool space_prefix;
    bool merges_cross_spaces; /* some token has U+2581 after another character */
    /* WordPiece */
    bool wordpiece;
    bool hash_marks; /* ## before the later pieces of a word; else U+2581 before the first */
    bool lowercases, strips_accents;

    /* [special_count] ids that are found in text as they stand, by their bytes */
    uint32_t *specials;
    uint32_t special_count;
    uint32_t special_first[257]; /* first special whose text begins with this byte */

    int32_t byte_ids[256]; /* -1 = none */
    int32_t bos, eos, unknown;
    bool adds_bos, adds_eos;
};

#define MERGE_NONE UINT32_MAX

/* Chaining hashes: hash(ab) = text_hash(b, text_hash(a, basis)), so a symbol keeps its own. */
static inline uint64_t text_hash(const char *text, size_t len, uint64_t basis)
{
    for (size_t i = 0; i < len; i++)
        basis = (basis ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3); /* FNV-1a's prime */
    return basis;
}

/* Id of the token with this text and this hash, or -1. */
int32_t tokenizer_find_hashed(const struct tokenizer *tokenizer, const char *text, size_t len,
                              uint64_t hash);
/* As above, but only what plain text may become: no control, unknown or byte token. A message that
 * spells a control token must not turn into one. */
int32_t tokenizer_find_plain(const struct tokenizer *tokenizer, const char *text, size_t len,
                             uint64_t hash);
/* Rank of merging `left` and `right` (MERGE_NONE = not a merge); `left_hash` is left's text_hash.
 */
uint32_t tokenizer_merge_rank(const struct tokenizer *tokenizer, struct td_str left,
                              uint64_t left_hash, struct td_str right);
/* The printable character (as UTF-8, 1 or 2 bytes) that stands for a byte in byte-level
 * vocabularies, and the byte that a character stands for, or -1. */
size_t byte_level_encode(unsigned char byte, char out[static 2]);
int byte_level_decode(uint32_t code_point);

/* While loading. False when out of memory ... */
bool slot_table_init(struct slot_table *table, uint64_t entries);
/* ... and false when the texts were made to collide. Of tokens with equal texts the last counts, of
 * equal merges the first (it has the lower rank). */
bool tokenizer_insert_token(struct tokenizer *tokenizer, uint32_t id);
bool tokenizer_insert_merge(struct tokenizer *tokenizer, struct td_str merge, uint32_t offset);

/* tokenizer_merge.c: turns pieces of text into tokens. One a call of encode; grows as needed. */
struct merge_symbol {
    uint64_t hash; /* text_hash of its bytes */
    uint32_t begin, len;
    uint32_t previous, next; /* index, UINT32_MAX = none */
};

struct merge_candidate {
    uint64_t order; /* priority << 32 | index of the left symbol: ties go to the left */
    uint32_t right;
    uint32_t len; /* of both when it was found; another length now means it is stale */
};

struct merger {
    const struct tokenizer *tokenizer;
    struct buf *ids;
    bool out_of_memory;
    char *text; /* the piece as the vocabulary spells it */
    size_t text_capacity;
    struct merge_symbol *symbols;
    size_t symbol_capacity, symbol_count;
    struct merge_candidate *heap;
    size_t heap_capacity, heap_count;
};

void merger_deinit(struct merger *merger);
/* Append the ids of `text`; false when out of memory or the ids are full. */
bool merger_encode_byte_level(struct merger *merger, struct td_str piece);
bool merger_encode_sentencepiece(struct merger *merger, struct td_str text, bool space_prefix);

#endif
