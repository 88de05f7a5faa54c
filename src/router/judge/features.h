/* What a prompt shows before anything runs: numbers about the user's own utterance (utterance.h),
 * read in one pass, and the hashed n-grams that a classifier weighs (classifier.h). No allocation;
 * pure; any thread. */
#ifndef ROUTER_FEATURES_H
#define ROUTER_FEATURES_H

#include "router/judge/markers.h"
#include "router/judge/utterance.h"

/* Must change when the meaning or the order of any feature does. A classifier file says for which
 * version it was trained. */
#define FEATURES_VERSION 1

enum feature {
    FEATURE_MARKERS = 0,          /* MARKER_COUNT of them: log(1 + how many) */
    FEATURE_BYTES = MARKER_COUNT, /* log(1 + bytes of the canonical utterance) */
    FEATURE_BYTES_SQUARED,
    FEATURE_WORDS,
    FEATURE_WORD_BYTES,     /* mean */
    FEATURE_LONG_WORDS,     /* share with more than 8 bytes */
    FEATURE_NUMBERS,        /* log */
    FEATURE_DIGITS,         /* share of bytes */
    FEATURE_OPERATORS,      /* share of = + * / ^ < > \ */
    FEATURE_BRACKETS,       /* share of brackets, braces, ; and _ : code and formulas */
    FEATURE_CAPITALS,       /* share of letters */
    FEATURE_NOT_ASCII,      /* share of bytes */
    FEATURE_QUESTIONS,      /* log of question marks */
    FEATURE_SENTENCES,      /* log */
    FEATURE_LINES,          /* log */
    FEATURE_COMMAS,         /* log */
    FEATURE_QUOTES,         /* log */
    FEATURE_BLANKS,         /* "___" occurs */
    FEATURE_LIST_LINES,     /* log of lines that begin with "1." or "-" */
    FEATURE_CHOICES,        /* lines "a. ...", at most 8, by 8 */
    FEATURE_CHOICE_BYTES,   /* log of their mean length */
    FEATURE_CHOICE_SPREAD,  /* log of longest over shortest */
    FEATURE_CHOICE_NUMBERS, /* share of them with a digit */
    FEATURE_QUESTION_BYTES, /* log of what stands before the first choice */
    FEATURE_ASKS,           /* begins with a question word */
    FEATURE_YEAR_RECENT,    /* one of the last three years occurs, or a later one */
    FEATURE_QUOTED,         /* share of quoted matter in four steps */
    FEATURE_FENCES,         /* a fenced block occurs */
    FEATURE_TURNS,          /* log of earlier user turns */
    FEATURE_COUNT
};

struct features {
    float value[FEATURE_COUNT];
    uint32_t question_count;
    uint32_t year; /* latest that is mentioned, 0 = none: for the knowledge cutoff */
    bool code, maths, question, multi_step, fresh, jailbreak;
};

void features_read(const struct utterance *utterance, struct features *out);
const char *feature_name(size_t index); /* NULL beyond the last */

/* --- n-grams --- */

/* Every n-gram once: of words one and two, of bytes three to five. */
/* At each byte at most two of words and three of bytes begin; a blank is put before and after the
 * text. */
#define NGRAMS_MAX (5 * (UTTERANCE_BYTES_MAX + 2))
#define NGRAM_BITS_MAX 18
#define NGRAM_PIECES 3

struct ngrams {
    uint32_t bucket[NGRAMS_MAX + 1]; /* one more is written before it is known to be new */
    size_t word_count;               /* buckets of words; those of bytes follow */
    size_t count;
    /* Where those end that occur first in each piece of the text. */
    size_t word_end[NGRAM_PIECES], byte_end[NGRAM_PIECES];
    uint64_t seen[(1u << NGRAM_BITS_MAX) / 64];
};

/* Buckets below 2^bits, each at most once; 8 <= bits <= NGRAM_BITS_MAX. */
void ngrams_read(const struct utterance *utterance, unsigned bits, struct ngrams *out);
/* The same in three pieces of the utterance: up to cuts[0], up to cuts[1] (not before), and the
 * rest. */
void ngrams_read_pieces(const struct utterance *utterance, unsigned bits,
                        const size_t cuts[static NGRAM_PIECES - 1], struct ngrams *out);

#endif
