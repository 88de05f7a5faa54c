/* Whose requests to a tier failed of late. The failures of one caller alone may be due to what it
 * asks. So they say nothing of the tier while most others are answered. Plain data without a lock
 * or a clock of its own; src/tier/health.c has it in its records. */
#ifndef TIER_WITNESS_H
#define TIER_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

/* How the last request of each of the newest callers ended. Zeroed memory has none. */
#define WITNESSES_MAX 8
struct witnesses {
    struct {
        uint64_t caller, at_ms;
        bool there, failed;
    } of[WITNESSES_MAX];
};

void witnesses_add(struct witnesses *witnesses, uint64_t caller, bool failed, uint64_t now_ms);
/* Whether of the other callers more were answered than failed. */
bool witnesses_contradict(const struct witnesses *witnesses, uint64_t caller, uint64_t now_ms);

#endif
