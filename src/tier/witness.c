#include "tier/witness.h"

#include <stddef.h>

/* What is older says little about now. It is also how long a caller whose own requests all fail
 * goes on asking a tier that nobody else asks any more. */
#define LATELY_MS 30000

void witnesses_add(struct witnesses *witnesses, uint64_t caller, bool failed, uint64_t now_ms)
{
    size_t place = 0;
    for (size_t i = 0; i < WITNESSES_MAX; i++) {
        if (witnesses->of[i].there && witnesses->of[i].caller == caller) {
            place = i;
            break;
        }
        if (witnesses->of[place].there &&
            (!witnesses->of[i].there || witnesses->of[i].at_ms < witnesses->of[place].at_ms))
            place = i; /* a free one, or the oldest */
    }
    witnesses->of[place].caller = caller;
    witnesses->of[place].at_ms = now_ms;
    witnesses->of[place].there = true;
    witnesses->of[place].failed = failed;
}

bool witnesses_contradict(const struct witnesses *witnesses, uint64_t caller, uint64_t now_ms)
{
    int answered = 0;
    for (size_t i = 0; i < WITNESSES_MAX; i++)
        if (witnesses->of[i].there && witnesses->of[i].caller != caller &&
            now_ms <= witnesses->of[i].at_ms + LATELY_MS)
            answered += witnesses->of[i].failed ? -1 : 1;
    return answered > 0;
}
