/* Is this question like an earlier one? A sketch of an utterance has 128 bits, and paraphrases
 * differ in few of them. There is no model pass: each different word has a row of signed bytes, the
 * rows are added up, and the sign of each sum is a bit.
 *
 *   v[i]     = Σ row(word)[i] over the utterance's different words          i = 0..127
 *   bit i    = v[i] > 0
 *
 * The rows of known words are learnt (models/similar/train.py): words that people use for the same
 * intent point the same way, and words without content are short. A word that the table does not
 * know gets a row of ±unknown by its hash, so that a text of such words alone has Charikar's
 * SimHash (2002, "Similarity estimation techniques from rounding algorithms"). The distance of two
 * sketches is the number of different bits; it grows with the angle between the sums. Exact keys
 * (the hash of a class or of a bucket) were rejected: two paraphrases on either side of a border
 * would share nothing.
 *
 * A word is a run of a-z, 0-9 and bytes above 0x7F of the canonical utterance, without apostrophes,
 * and at most 32 bytes of it. One that begins with a digit is "0", because "what is 3 plus 5" is
 * asked again with other numbers.
 *
 * The file (little-endian; all of it checked before the first use):
 *
 *   0   8  magic "TDSIMILR"         24  4  words (rows)
 *   8   4  format version           28  4  slots, a power of two
 *   12  4  unknown, 1..127          32  32 zeros
 *   16  8  hash of what follows 24  64     {uint32 tag, uint32 row} slots[]; int8 rows[words][128]
 *
 * tag: the upper half of the word's FNV-1a-64, 0 = empty; its first slot is the lower half modulo
 * slots, the next ones follow. */
#ifndef ROUTER_SIMILARITY_H
#define ROUTER_SIMILARITY_H

#include "router/judge/utterance.h"

#define SIMILARITY_BITS 128
#define SIMILARITY_BYTES_MAX (8u << 20)
/* Two questions with at most this many different bits are similar. On test utterances whose intents
 * the table was not trained on, that holds for 61 % of the pairs of one intent and 2 % of the pairs
 * of two (models/similar/README.md). */
#define SIMILARITY_NEAR 46

struct sketch {
    uint64_t bits[SIMILARITY_BITS / 64];
    bool known; /* the utterance has words */
};

struct similarity; /* immutable; any thread */

/* Without learnt words; static. */
extern const struct similarity similarity_plain;

/* **returns new** (similarity_close). TD_NOT_FOUND, TD_IO; TD_INVALID says what is wrong with the
 * file. */
TD_MUST_CHECK enum td_status similarity_open(const char *path, struct similarity **out,
                                             struct td_error *err);
/* The same from memory, which is copied. */
TD_MUST_CHECK enum td_status similarity_read(struct td_str file, struct similarity **out,
                                             struct td_error *err);
void similarity_close(struct similarity *similarity);
/* Of the file's contents; sketches of different tables cannot be compared. */
uint64_t similarity_hash(const struct similarity *similarity);

void similarity_sketch(const struct similarity *similarity, const struct utterance *utterance,
                       struct sketch *out);

/* Bits that differ. */
static inline unsigned similarity_distance(const uint64_t a[static 2], const uint64_t b[static 2])
{
    return (unsigned)__builtin_popcountll(a[0] ^ b[0]) +
           (unsigned)__builtin_popcountll(a[1] ^ b[1]);
}

#endif
