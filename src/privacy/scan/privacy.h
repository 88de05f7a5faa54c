/* Finds private values in a text and says where the text may be sent. It reads a text in one pass,
 * gives exact byte spans and verifies check digits. It allocates memory only for an operator's
 * rules (rules.h) and for texts with escapes. Any thread.
 *
 * A scanner (scanner.h) adds rules and names to the built-in detectors. Without one (NULL) the text
 * is not read: all of it is one restricted finding. So a caller that forgot to load the rules sends
 * nothing. */
#ifndef PRIVACY_PRIVACY_H
#define PRIVACY_PRIVACY_H

#include "base/text/names.h"
#include "privacy/kind/spans.h"

struct privacy_scanner;

/* Finds spans in `text`, in order, not overlapping. Values that show only after JSON's escapes are
 * read (escaped.h) are found too, at the places of the escaped text. Returns how many there are;
 * writes the first `capacity`. */
size_t privacy_scan(const struct privacy_scanner *scanner, struct td_str text,
                    struct privacy_span *spans, size_t capacity);
/* The same with more recall (traces.h): also names that are only likely, and numbers of no known
 * kind, all of class sensitive. It is for masking. The class of a text comes from privacy_scan. */
size_t privacy_scan_strict(const struct privacy_scanner *scanner, struct td_str text,
                           struct privacy_span *spans, size_t capacity);

/* Tells the rereader (detect.h) every stretch of the text that a scan reads another way: without
 * escapes and disguises, decoded, a number without what stands in it. */
struct rereader;
void privacy_reread(const struct privacy_scanner *scanner, struct td_str text,
                    const struct rereader *rereader);

/* Class of a whole text: the highest of its findings. found (may be NULL): counts them
 * (tally.h). */
struct privacy_tally;
enum td_data_class privacy_classify(const struct privacy_scanner *scanner, struct td_str text,
                                    struct privacy_tally *found);

/* The same for several texts (reading.h), so that a word in one text can announce a value in the
 * next. An operator's rules see each text alone. Findings have the places of the reading, and may
 * lie in more than one part. A reading that failed is restricted, and nothing is found in it. */
struct reading;
size_t privacy_scan_reading(const struct privacy_scanner *scanner, const struct reading *reading,
                            bool strict, struct privacy_span *spans, size_t capacity);
/* The same without strict findings, and a long reading by units (remembered.h), of which those that
 * were read for the caller before are not read again. caller without data: nothing is remembered.
 * False without memory: some findings are missing. */
TD_MUST_CHECK bool privacy_find_reading(const struct privacy_scanner *scanner,
                                        const struct reading *reading, struct td_str caller,
                                        struct spans *out);
/* The class of what is found that way. */
enum td_data_class privacy_classify_reading(const struct privacy_scanner *scanner,
                                            const struct reading *reading, struct td_str caller,
                                            struct privacy_tally *found);

/* The one rule: may data of this class be sent to this place? Restricted: device only. Sensitive
 * and contractual: device and premises; a configuration may say more (router/plan/reach.h). Public:
 * anywhere. */
bool privacy_may_reach(enum td_data_class data_class, enum td_place place);

#endif
