/* What is private in a text, and what that forbids. One pass, exact byte spans, checksums where the
 * kind has one. No allocation beyond the caller's array, except for an operator's rules (rules.h);
 * any thread.
 *
 * A scanner (scanner.h) says what is looked for beside what the built-in detectors find. Without
 * one (NULL) nothing is looked at, and the whole text is one restricted finding: who forgot to load
 * the rules would find too little, which is not the same as that there is nothing. */
#ifndef PRIVACY_PRIVACY_H
#define PRIVACY_PRIVACY_H

#include "base/names.h"
#include "privacy/kind/spans.h"

struct privacy_scanner;

/* Finds spans in `text`, in order, not overlapping; also those that show only when JSON's escapes
 * in it are read (escaped.h), whose places are those of the escaped text. Returns how many there
 * are; writes the first `capacity`. */
size_t privacy_scan(const struct privacy_scanner *scanner, struct td_str text,
                    struct privacy_span *spans, size_t capacity);
/* Recall first (traces.h): names that are but likely, wherever they stand, and numbers that are
 * like nothing known, all of class sensitive. For who replaces what is found; a class is given by
 * the other one. */
size_t privacy_scan_strict(const struct privacy_scanner *scanner, struct td_str text,
                           struct privacy_span *spans, size_t capacity);

/* Class of a whole text: the highest of its findings. found (may be NULL): what they are, added to
 * (tally.h). */
struct privacy_tally;
enum td_data_class privacy_classify(const struct privacy_scanner *scanner, struct td_str text,
                                    struct privacy_tally *found);

/* The same of several texts (reading.h): a value is found by what announces it in the text before.
 * An operator's rules see each text alone. Findings have the places of the reading, and may be in
 * more than one part. A reading that failed is restricted, and nothing is found in it. */
struct reading;
size_t privacy_scan_reading(const struct privacy_scanner *scanner, const struct reading *reading,
                            bool strict, struct privacy_span *spans, size_t capacity);
enum td_data_class privacy_classify_reading(const struct privacy_scanner *scanner,
                                            const struct reading *reading,
                                            struct privacy_tally *found);

/* The one rule: may data of this class be sent to this place? Restricted: device only. Sensitive
 * and contractual: device and premises; a configuration may say more (router/plan/reach.h). Public:
 * anywhere. */
bool privacy_may_reach(enum td_data_class data_class, enum td_place place);

#endif
