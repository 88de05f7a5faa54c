/* What the files of the tokenizer share. tokenizer_load.c builds a struct tokenizer with the tables
 * of tokenizer_lookup.c; tokenizer.c, tokenizer_merge.c and wordpiece.c read it. */
#ifndef ENGINE_TOKENIZER_INTERNAL_H
#define ENGINE_TOKENIZER_INTERNAL_H

#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/text/utf8.h"
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
    const char *text; /* in the mapped file; byte-level BPE: a printable character a byte */
    uint32_t len;
    uint8_t type;
    bool is_end;      /* ends a generation */
    bool in_marks;    /* ordinary text in messages, but a special token in marks */
    bool strip_right; /* the white space after it is dropped (Phi-3) */
};

/* Open addressing, linear probing, at most two thirds full. A slot is 0 or hash bits << 32 | (value
 * + 1). tokenizer_lookup.c says what the two halves are in each table. */
struct slot_table {
    uint64_t *slots;
    uint32_t mask;
};

enum { INFILL_MARKS = 3 };

struct tokenizer {
    struct token *tokens; /* [count] */
    uint32_t count;
    struct slot_table ids; /* text -> id */

    char *pieces;            /* bytes of all pieces, one after another */
    uint32_t *piece_offsets; /* [count + 1] */

    bool sentencepiece;
    bool ranked; /* SentencePiece with merges instead of scores (Gemma 4) */
    /* Byte-level BPE */
    const struct pretokenizer *pre;
    const char *merges; /* text of the first merge; a merge is identified by its offset from here */
    struct slot_table merge_offsets; /* "left right" -> offset, which grows with the rank */
    uint32_t merge_len_max;
    /* SentencePiece */
    uint32_t *priorities; /* [count] made from the scores: lower is merged first */
    bool space_prefix;
    bool merges_cross_spaces; /* some token has U+2581 after another character */
    /* WordPiece */
    bool wordpiece;
    bool hash_marks; /* ## marks the later pieces of a word; else U+2581 marks the first */
    bool lowercases, strips_accents;

    uint32_t *specials; /* [special_count] ids of special tokens, sorted by their bytes */
    uint32_t special_count;
    uint32_t special_first[257]; /* first special whose text begins with this byte */

    int32_t byte_ids[256]; /* -1 = none */
    int32_t bos, eos, unknown;
    int32_t infill[INFILL_MARKS]; /* prefix, suffix, middle (infill.h); -1 = none */
    bool adds_bos, adds_eos;
};

#define MERGE_NONE UINT32_MAX

/* FNV-1a, which can be continued: the hash of "ab" is text_hash(b, text_hash(a, basis)). So the
 * hash of two merged symbols costs only the bytes of the right one. */
static inline uint64_t text_hash(const char *text, size_t len, uint64_t basis)
{
    for (size_t i = 0; i < len; i++)
        basis = (basis ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3); /* FNV-1a's prime */
    return basis;
}

/* Id of the token with this text and this hash, or -1. */
int32_t tokenizer_find_hashed(const struct tokenizer *tokenizer, const char *text, size_t len,
                              uint64_t hash);
/* The same, but never a control, unknown or byte token: a message that spells a control token must
 * not become one. */
int32_t tokenizer_find_plain(const struct tokenizer *tokenizer, const char *text, size_t len,
                             uint64_t hash);
/* Rank of the merge of `left` and `right`; MERGE_NONE = there is none. left_hash: text_hash
 * of left. */
uint32_t tokenizer_merge_rank(const struct tokenizer *tokenizer, struct td_str left,
                              uint64_t left_hash, struct td_str right);
/* Byte-level vocabularies write each byte as a printable character. These give the character of a
 * byte (UTF-8, 1 or 2 bytes; returns the length), and the byte of a character or -1. */
size_t byte_level_encode(unsigned char byte, char out[static 2]);
int byte_level_decode(uint32_t code_point);

/* --- for tokenizer_load.c --- */

bool slot_table_init(struct slot_table *table, uint64_t entries); /* false = no memory */
/* False when the texts were chosen to collide. Of tokens with equal texts the last one counts, of
 * equal merges the first (it has the lower rank). */
bool tokenizer_insert_token(struct tokenizer *tokenizer, uint32_t id);
bool tokenizer_insert_merge(struct tokenizer *tokenizer, struct td_str merge, uint32_t offset);

/* --- tokenizer_merge.c: turns pieces of text into tokens --- */

struct merge_symbol {
    uint64_t hash; /* text_hash of its bytes */
    uint32_t begin, len;
    uint32_t previous, next; /* index, UINT32_MAX = none */
};

struct merge_candidate {
    uint64_t order; /* priority << 32 | index of the left symbol: ties go to the left */
    uint32_t right;
    uint32_t len; /* of both when it was found; if they have another length now, it is stale */
};

/* Lives for one call of encode; its arrays grow as needed. */
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
