/* Do two answers say the same? Shadows and the tier that they follow are compared in this way. The
 * first kind that fits decides:
 *
 *   JSON   Both answers are one object or array, perhaps inside a fence of Markdown. The score is
 *          the F1 of their leaves. A leaf is a path and a value, so the order of members does not
 *          matter.
 *          They are the same only when they have all leaves in common.
 *   label  One of the answers has at most AGREEMENT_LABEL_WORDS words. They are the same when both
 *          have the same words in order; a leading article does not count.
 *   text   The score is the F1 of the words as multisets, 2 · common / (words of a + words of b)
 *          (Rajpurkar et al. 2016, "SQuAD", section 6.1). It ranks the same answer before a
 *          paraphrase, and that before another answer. When the two name different numbers, the
 *          score is halved: "42" and "43" in the same sentence are two answers.
 *
 * Words are folded as utterances are (canonical characters, lower case) and have no punctuation. In
 * scripts without spaces (Han, kana, Thai, ...) each character is a word, and two of them count as
 * one in a label. Pure; any thread; 80 KiB of stack. */
#ifndef ROUTER_AGREEMENT_H
#define ROUTER_AGREEMENT_H

#include "tandem/types.h"

#define AGREEMENT_LABEL_WORDS 3
/* The most words, or leaves, of an answer that are read. */
#define AGREEMENT_WORDS_MAX 2048
#define AGREEMENT_CUT_WORDS_MIN 8
/* Texts that share half of their words say the same more often than not. The line is drawn by
 * choice. */
#define AGREEMENT_SAME_TEXT 0.5

enum agreement_kind { AGREEMENT_LABEL, AGREEMENT_TEXT, AGREEMENT_JSON };
const char *agreement_kind_name(enum agreement_kind kind); /* "label", "text", "json" */

struct agreement {
    enum agreement_kind kind;
    double score; /* 0..1; a label: 0 or 1 */
    bool same;
};

/* What ended b. When a limit cut it, only as many words of a are read as b has. */
enum agreement_end {
    AGREEMENT_END_OWN,
    AGREEMENT_CUT_AS_ASKED, /* the caller's own limit, which a had, too */
    AGREEMENT_CUT_SHORT,    /* a limit that a did not have */
};

/* False: b was cut short before it said anything that can be compared, as when a model has only
 * thought. It then has fewer than AGREEMENT_CUT_WORDS_MIN words, and fewer than a. *out is as it
 * was. */
TD_MUST_CHECK bool agreement_compare(struct td_str a, struct td_str b, enum agreement_end b_end,
                                     struct agreement *out);

/* How the answers of two tiers are held against each other when the second one checks the first
 * (docs/policy.md). A policy names them in this order. */
enum compare_by {
    COMPARE_MEANING,    /* as above, and what one denies the other must not affirm */
    COMPARE_EXACT,      /* but for white space around */
    COMPARE_NORMALISED, /* the same words in the same order: no case, punctuation, first article */
    COMPARE_STRUCTURE   /* the same leaves of JSON; otherwise the same numbers in order, or, without
                           numbers, as normalised */
};
extern const char *const compare_names[]; /* ended by NULL */

/* Do they agree? b is whole, or cut by the caller's own limit (b_cut). Stricter than
 * agreement_compare where that ranks: two answers that name other numbers never agree. */
bool answers_agree(enum compare_by by, struct td_str a, struct td_str b, bool b_cut);

#endif
