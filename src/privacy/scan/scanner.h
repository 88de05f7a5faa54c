/* What a scan uses in addition to the built-in detectors: the operator's rules, and the tagger for
 * names. It is made once from a configuration and never changed, so any thread may scan with it. It
 * belongs to the snapshot of that configuration, or to the command that scans, and is freed with
 * it. So is what it remembers of earlier scans (remembered.h). */
#ifndef PRIVACY_SCANNER_H
#define PRIVACY_SCANNER_H

#include "base/text/names.h"
#include "privacy/names/name_finder.h"
#include "privacy/scan/rules.h"
#include "privacy/text/reading.h"

struct privacy_scanner_parts {
    struct privacy_rules *rules; /* NULL: none */
    struct tagger *tagger;       /* NULL: names are not looked for */
    float name_min_score;        /* of a name that is a finding, 0..1 */
    enum td_data_class name_class;
    /* By where a text stands: whether what is only guessed (spans.h) gives it no class. */
    bool guesses_aside[READING_FROM_COUNT];
};

struct privacy_scanner;

/* **takes** rules and tagger, also on failure. **returns new** (privacy_scanner_free); NULL without
 * memory. */
struct privacy_scanner *privacy_scanner_new(const struct privacy_scanner_parts *parts);
void privacy_scanner_free(struct privacy_scanner *scanner);

/* **borrows** from the scanner; NULL: there are none. */
const struct privacy_rules *privacy_scanner_rules(const struct privacy_scanner *scanner);
struct scan_memory;
/* **borrows** from the scanner. */
struct scan_memory *privacy_scanner_memory(const struct privacy_scanner *scanner);
/* **borrows** from the scanner. */
const struct name_finder *privacy_scanner_names(const struct privacy_scanner *scanner);
/* Whether a finding that is only guessed gives no class to a text that stands there. */
bool privacy_scanner_sets_aside(const struct privacy_scanner *scanner, enum reading_from from);

#endif
