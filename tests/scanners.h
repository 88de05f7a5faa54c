/* Scanners for tests: with the built-in detectors alone, or with rules and a tagger beside them. */
#ifndef TESTS_SCANNERS_H
#define TESTS_SCANNERS_H

#include "privacy/scan/scanner.h"

#include <stdlib.h>

/* **takes** both; NULL: without. Names count from a probability of one half on, and are public.
 * **returns new** (privacy_scanner_free). */
static inline struct privacy_scanner *scanner_with(struct privacy_rules *rules,
                                                   struct tagger *tagger)
{
    struct privacy_scanner *scanner = privacy_scanner_new(&(struct privacy_scanner_parts){
        .rules = rules, .tagger = tagger, .name_min_score = 0.5f, .name_class = TD_CLASS_PUBLIC});
    if (scanner == NULL)
        abort();
    return scanner;
}

/* The same one for a whole test program. */
static inline const struct privacy_scanner *plain_scanner(void)
{
    static struct privacy_scanner *scanner;
    if (scanner == NULL)
        scanner = scanner_with(NULL, NULL);
    return scanner;
}

#endif
