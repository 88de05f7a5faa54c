/* The names file: a lexicon of words, weights of features, weights of transitions. Mapped
 * read-only; everything in it is checked before use. Immutable after open; any thread.
 *
 *   offset  bytes  what
 *        0      8  "TDNAMES" and a zero byte
 *        8      4  version, 4
 *       12      4  lexicon slots S, a power of two
 *       16      4  feature rows R, a power of two
 *       20      4  float: what one step of a weight is worth
 *       24      4  float: what one step of a transition is worth
 *       28      8  floats a, b: score = sigmoid(a logit(p) + b)   (Platt 1999)
 *       36      4  zero
 *       40      8  hash_words64 of all that follows the header
 *       48     16  floats: the cost of missing a person, a place, an organisation, a street
 *       64   1024  int8 transitions [gap 16][label before 8][label 8]
 *     1088    4 S  lexicon: low 16 bits classes, high 16 bits of the word's hash; 0 = empty
 *  1088+4S    8 R  int8 weights [row][label 8]
 *
 * Numbers are little-endian. */
#ifndef PRIVACY_TAGGER_FILE_H
#define PRIVACY_TAGGER_FILE_H

#include "privacy/names/tagger_words.h"

enum { TAGGER_HEADER_BYTES = 64, TAGGER_VERSION = 4 };
#define TAGGER_MAGIC "TDNAMES"

/* BIO labels of three types, and one for every word of a street's name and its numbers. */
enum tagger_label {
    LABEL_O,
    LABEL_B_PERSON,
    LABEL_I_PERSON,
    LABEL_B_PLACE,
    LABEL_I_PLACE,
    LABEL_B_ORG,
    LABEL_I_ORG,
    LABEL_STREET,
    LABEL_COUNT
};

enum tagger_type { TAGGER_PERSON, TAGGER_PLACE, TAGGER_ORG, TAGGER_STREET, TAGGER_TYPE_COUNT };

struct tagger_file {
    const uint32_t *lexicon; /* [lexicon_mask + 1] */
    uint32_t lexicon_mask;
    const int8_t *weights; /* [rows][LABEL_COUNT] */
    uint32_t row_shift;    /* row = hash >> row_shift */
    float step;
    float calibration_a, calibration_b;
    float label_costs[LABEL_COUNT]; /* of a word's label, one for none */
    const int8_t *transitions;      /* [GAP_COUNT][LABEL_COUNT][LABEL_COUNT] */
    float transition_step;
    void *mapping; /* NULL: the caller's memory */
    size_t mapping_bytes;
};

/* Close with tagger_file_close. */
TD_MUST_CHECK enum td_status tagger_file_open(const char *path, struct tagger_file *file,
                                              struct td_error *err);
/* The same from memory, 4-byte aligned. **borrows** data until tagger_file_close. */
TD_MUST_CHECK enum td_status tagger_file_read(const void *data, size_t len, const char *label,
                                              struct tagger_file *file, struct td_error *err);
void tagger_file_close(struct tagger_file *file);

/* Prefetches the classes of a word, some time before they are needed. */
static inline void tagger_classes_prefetch(const struct tagger_file *file, uint32_t hash)
{
    __builtin_prefetch(&file->lexicon[hash & file->lexicon_mask]);
}

/* The classes of a word, 0 when it is not known. */
static inline uint16_t tagger_classes(const struct tagger_file *file, uint32_t hash)
{
    uint32_t slot = hash & file->lexicon_mask;
    /* A file of ours has short runs; a hostile one cannot make this loop long. */
    for (int probe = 0; probe < 32; probe++) {
        uint32_t entry = file->lexicon[slot];
        if (entry == 0)
            return 0;
        if (entry >> 16 == hash >> 16)
            return (uint16_t)entry;
        slot = (slot + 1) & file->lexicon_mask;
    }
    return 0;
}

#endif
