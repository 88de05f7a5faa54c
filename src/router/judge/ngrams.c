/* Hashing a text's n-grams into buckets, each bucket once. This is the inner loop of every
 * decision, so it keeps its counters in registers and reads bytes eight at a time. */
#include "base/core/assertion.h"
#include "router/judge/features.h"

#include <string.h>

/* Multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4): the upper bits of a
 * product with an odd constant depend on all bits of the key. */
#define MULTIPLIER UINT64_C(0x9E3779B97F4A7C15)

/* Digits are one character: which number it is says little, that there is one says much. */
static inline char shape(char c)
{
    return c >= '0' && c <= '9' ? '0' : c == '\n' ? ' ' : c;
}

/* Where buckets go; kept apart from struct ngrams so that its counter stays in a register. */
struct writer {
    uint32_t *bucket;
    uint64_t *seen;
    size_t count;
    unsigned shift;
    uint64_t before; /* the word before */
    size_t at;       /* where the next word begins */
};

/* Words have the first quarter of the buckets and bytes the rest, so that they can be trusted
 * differently. Fewer bits halve every bucket's number: files of different sizes agree. */
static inline struct writer add(struct writer writer, uint64_t key, bool is_word)
{
    const uint64_t quarter = UINT64_C(1) << (NGRAM_BITS_MAX - 2);
    uint64_t hash = key * MULTIPLIER >> 32;
    uint64_t widest = is_word ? hash * quarter >> 32 : quarter + (hash * (3 * quarter) >> 32);
    uint32_t bucket = (uint32_t)(widest >> writer.shift);
    uint64_t *seen = &writer.seen[bucket / 64], bit = UINT64_C(1) << (bucket & 63);
    writer.bucket[writer.count] = bucket; /* stays only when it is new */
    writer.count += !(*seen & bit);
    *seen |= bit;
    return writer;
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || c == '0' || c == '\'' || (unsigned char)c >= 0x80;
}

/* Words and single marks of punctuation, alone and in pairs, that begin before `to`. */
static struct writer add_words(struct writer writer, const char *text, size_t to, size_t len)
{
    uint64_t before = writer.before;
    size_t at = writer.at;
    while (at < to) {
        if (text[at] == ' ') {
            at++;
            continue;
        }
        uint64_t word = UINT64_C(0xcbf29ce484222325); /* FNV-1a, 64 bit */
        bool alone = !is_word_byte(text[at]);
        do
            word = (word ^ (unsigned char)text[at++]) * UINT64_C(0x100000001b3);
        while (!alone && at < len && is_word_byte(text[at]));
        if (word == before)
            continue; /* a word again and again is one */
        writer = add(writer, word ^ word >> 29, true);
        writer = add(writer, before * 31 + (word ^ word >> 31), true);
        before = word;
    }
    writer.before = before;
    writer.at = at;
    return writer;
}

static struct writer add_bytes(struct writer writer, const char *text, size_t from, size_t to,
                               size_t len)
{
    for (size_t at = from; at < to && at + 3 <= len; at++) {
        uint64_t word;
        memcpy(&word, text + at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        /* The length stands above the bytes so that zeros after the end are no bytes. */
        writer = add(writer, (word & 0xFFFFFF) | UINT64_C(3) << 56, false);
        if (at + 4 <= len)
            writer = add(writer, (word & 0xFFFFFFFF) | UINT64_C(4) << 56, false);
        if (at + 5 <= len)
            writer = add(writer, (word & 0xFFFFFFFFFF) | UINT64_C(5) << 56, false);
    }
    return writer;
}

void ngrams_read(const struct utterance *utterance, unsigned bits, struct ngrams *out)
{
    const size_t nowhere[NGRAM_PIECES - 1] = {0, utterance->len};
    ngrams_read_pieces(utterance, bits, nowhere, out);
}

void ngrams_read_pieces(const struct utterance *utterance, unsigned bits,
                        const size_t cuts[static NGRAM_PIECES - 1], struct ngrams *out)
{
    ASSERT(bits >= 8 && bits <= NGRAM_BITS_MAX && cuts[0] <= cuts[1]);
    char text[UTTERANCE_BYTES_MAX + UTTERANCE_SLACK + 2];
    size_t len = utterance->len;
    text[0] = ' '; /* so that the first and the last word have an edge like the others */
    for (size_t i = 0; i < len; i++)
        text[i + 1] = shape(utterance->text[i]);
    text[len + 1] = ' ';
    memset(text + len + 2, 0, UTTERANCE_SLACK);
    memset(out->seen, 0, ((size_t)1 << bits) / 8);
    /* In the text with its blank; nothing of an utterance stands before its beginning. */
    const size_t ends[NGRAM_PIECES] = {cuts[0] ? cuts[0] + 1 : 0,
                                       cuts[1] < len ? cuts[1] + 1 : len + 2, len + 2};
    struct writer writer = {
        .bucket = out->bucket, .seen = out->seen, .shift = NGRAM_BITS_MAX - bits, .before = 1};
    for (size_t piece = 0; piece < NGRAM_PIECES; piece++) {
        writer = add_words(writer, text, ends[piece], len + 2);
        out->word_end[piece] = writer.count;
    }
    out->word_count = writer.count;
    for (size_t piece = 0; piece < NGRAM_PIECES; piece++) {
        writer = add_bytes(writer, text, piece ? ends[piece - 1] : 0, ends[piece], len + 2);
        out->byte_end[piece] = writer.count;
    }
    out->count = writer.count;
}
