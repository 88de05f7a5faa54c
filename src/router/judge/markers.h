/* Words and phrases that tell what kind of answer is asked for. They are found by the hashes of one
 * to three neighbouring words, which the features compute anyway. Any thread. */
#ifndef ROUTER_MARKERS_H
#define ROUTER_MARKERS_H

#include <stddef.h>
#include <stdint.h>

enum marker {
    MARKER_STEPS,     /* "first", "then", "step by step" */
    MARKER_REASONING, /* "prove", "deduce", "why does" */
    MARKER_CODE,
    MARKER_MATHS,
    MARKER_NEGATION,   /* "except", "not" */
    MARKER_CONSTRAINT, /* "at most", "exactly", "in json" */
    MARKER_FRESH,      /* "today", "latest", "current price" */
    MARKER_CREATIVE,
    MARKER_PLANNING,
    MARKER_SUMMARY,
    MARKER_TRANSLATION,
    MARKER_EXTRACTION,
    MARKER_FORMATTING,
    MARKER_CLASSIFICATION,
    MARKER_COMPARISON,
    MARKER_LEGAL,
    MARKER_MEDICAL,
    MARKER_JAILBREAK,
    MARKER_QUESTION, /* "what", "how" */
    MARKER_SMALLTALK,
    MARKER_PERSON,  /* "i", "my", "you" */
    MARKER_CHOICES, /* "all of the above", "which of the following" */
    MARKER_ENGLISH, /* the commonest words of a language */
    MARKER_GERMAN,
    MARKER_FRENCH,
    MARKER_SPANISH,
    MARKER_COUNT,
    /* What MARKER_FRESH counts too, by how much it says. */
    MARKER_FRESH_TOPIC = MARKER_COUNT, /* "weather", "stock price": changes from day to day */
    MARKER_FRESH_TIME,                 /* "today", "latest" */
    MARKER_NONE
};

/* Hash of a word from its bytes' hashes; of a phrase from the words'. */
#define MARKER_WORD_BASIS UINT32_C(0x811C9DC5)
static inline uint32_t marker_byte(uint32_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT32_C(0x01000193); /* FNV-1a, 32 bit */
}
static inline uint32_t marker_phrase(uint32_t first, uint32_t second)
{
    return (first ^ (second >> 15 | second << 17)) * UINT32_C(0x9E3779B1) + second;
}

/* The marker of a word or phrase with this hash, or MARKER_NONE. */
enum marker marker_find(uint32_t hash);

#endif
