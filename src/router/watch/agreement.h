/* Do two answers say the same? For what runs in the shadow of another tier.
 *
 * Three kinds, the first that fits. JSON: both are one object or array (a fence of Markdown around
 * it aside); the score is the F1 of their leaves, a leaf being its path and its value, so that the
 * order of members does not matter, and the same is only what has all of them. A label is what has
 * at most AGREEMENT_LABEL_WORDS words in one of them: then the words must be the same, in order, a
 * leading article aside. Longer texts are compared by the F1 of their words as multisets, 2 ·
 * common / (words of a + words of b) (Rajpurkar et al. 2016, "SQuAD", section 6.1), which orders
 * the same, a paraphrase and something else; numbers weigh more there than any word: when the two
 * name different numbers the score is halved, because "42" and "43" in the same sentence are
 * another answer. Words are folded as utterances are (canonical characters, lower case) and have no
 * marks; in scripts without spaces (Han, kana, Thai, ...) each character is one, and two of them
 * count as one in a label. Pure; any thread; 80 KiB of stack. */
#ifndef ROUTER_AGREEMENT_H
#define ROUTER_AGREEMENT_H

#include "tandem/types.h"

#define AGREEMENT_LABEL_WORDS 3
/* Of a longer answer so many words, or leaves, are read. */
#define AGREEMENT_WORDS_MAX 2048
#define AGREEMENT_CUT_WORDS_MIN 8
/* Texts that share half of their words say the same, more often than not; it is a line drawn, not a
 * fact. */
#define AGREEMENT_SAME_TEXT 0.5

enum agreement_kind { AGREEMENT_LABEL, AGREEMENT_TEXT, AGREEMENT_JSON };
const char *agreement_kind_name(enum agreement_kind kind); /* "label", "text", "json" */

struct agreement {
    enum agreement_kind kind;
    double score; /* 0..1; a label: 0 or 1 */
    bool same;
};

/* What ended b. Cut by a limit, as many words of a are read as b has. */
enum agreement_end {
    AGREEMENT_END_OWN,
    AGREEMENT_CUT_AS_ASKED, /* a limit of who asked, which a had, too: it is an answer as he would have got it */
    AGREEMENT_CUT_SHORT, /* a limit that a had not */
};

/* False: b was cut short before it had said anything that can be compared (fewer than
 * AGREEMENT_CUT_WORDS_MIN words, and fewer than a), as when a model has only thought; *out is as it
 * was. */
TD_MUST_CHECK bool agreement_compare(struct td_str a, struct td_str b, enum agreement_end b_end,
                                     struct agreement *out);

#endif
