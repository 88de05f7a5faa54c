/* What the files of the pass share. scan.c walks over the text. scan_word.c and scan_number.c tell
 * the detectors what a word or a number looks like. */
#ifndef PRIVACY_PASS_H
#define PRIVACY_PASS_H

#include "privacy/detect/detectors.h"
#include "privacy/scan/piece.h"
#include "privacy/scan/settle.h"

/* Numbers that were read and the words next to them, so that a row of numbers is read once. */
struct numbers {
    struct window window;
    struct word last;           /* the last word that is a number */
    struct word after;          /* the last word of letters that stood after a number */
    struct word previous, next; /* of the number that is asked about */
};

struct pass {
    struct place place; /* the candidate; begin, shape and what depends on it are set for each */
    struct settle found;
    struct context context;
    struct detect_memory memory;
    struct numbers numbers;
    unsigned seed_checks;
    struct privacy_span seed; /* the next seed phrase; begin: SIZE_MAX when there is none */
    size_t no_base64[4];      /* up to where no base64 text begins, by offset modulo 4 */
    size_t row_end;           /* of the numbers in a row that have been looked at */
    size_t lettered_end;      /* of the base64 or base32 text that was looked into */
    size_t codes_end;         /* of the codes of characters */
    size_t announced;         /* where the last word that announces anything ended, + 1; 0 none */
};

/* Is encoded text looked into? Not in what was decoded too often. */
static inline bool pass_decodes(const struct pass *pass)
{
    return pass->memory.level < PIECE_LEVELS;
}

/* The rest of an ASCII word from some place on. */
struct run {
    /* The latter with the bytes of letters beyond ASCII, of which a word may begin after each: no
     * more of them than a list's word has. */
    size_t end, long_end;
    uint64_t hash; /* the lexicon's, to long_end */
    bool digits;   /* has some */
};

/* A word begins at the pass's place with the plain character `first`. Answers where the pass
 * resumes, 0: after the word. */
size_t scan_word(struct pass *pass, int first, const struct run *run);
/* A number begins at the pass's place. */
void scan_number(struct pass *pass, const struct run *run);

#endif
