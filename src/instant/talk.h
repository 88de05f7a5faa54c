/* Greetings, thanks, goodbyes, and what answers here. Pure; any thread. */
#ifndef INSTANT_TALK_H
#define INSTANT_TALK_H

#include "instant/words.h"

/* Appends the answer to a message that holds nothing but such words. */
bool talk_answer(struct words *words, struct buf *out);

#endif
