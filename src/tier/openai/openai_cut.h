/* Takes members out of a chunk that is no JSON because of them: some servers write NaN, -Infinity,
 * 1e999 or a hundred digits among log-probabilities and in a usage. The answer beside it stays. */
#ifndef TIER_OPENAI_CUT_H
#define TIER_OPENAI_CUT_H

#include "base/bytes/buf.h"

/* Appends the text of a chunk with null in the place of each member of that name. False when there
 * is none. */
bool openai_cut_member(struct td_str chunk, struct td_str name, struct buf *out);

#endif
