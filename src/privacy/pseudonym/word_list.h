/* Lists of words in one string, with a space before and after each word: " von van der ". They are
 * folded as spell_fold folds. Pure; any thread. */
#ifndef PRIVACY_WORD_LIST_H
#define PRIVACY_WORD_LIST_H

#include "tandem/types.h"

/* Is the word, without case, in the list? */
bool word_list_has(const char *list, struct td_str word);

#endif
