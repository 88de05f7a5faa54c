/* Do two answers say the same? For what runs in the shadow of another tier.
 *
 * Both are folded as utterances are (canonical characters, lower case) and read as words without marks. A label is what has at most
 * AGREEMENT_LABEL_WORDS words in one of them: then the words must be the same, in order, leading articles aside. Longer answers are compared
 * by the F1 of their words as multisets, 2 · common / (words of a + words of b) (Rajpurkar et al. 2016, "SQuAD", section 6.1), which
 * orders the same, a paraphrase and something else; numbers weigh more there than any word: when the two name different numbers the score is halved, because
 * "42" and "43" in the same sentence are another answer. Pure; any thread; 40 KiB of stack. */
#ifndef ROUTER_AGREEMENT_H
#define ROUTER_AGREEMENT_H

#include "tandem/types.h"

#define AGREEMENT_LABEL_WORDS 3
/* Of a longer answer so many words are read. */
#define AGREEMENT_WORDS_MAX 2048

struct agreement {
    double score; /* 0..1 */
    bool label;   /* compared as labels: 0 or 1 */
};

void agreement_compare(struct td_str a, struct td_str b, struct agreement *out);

#endif
