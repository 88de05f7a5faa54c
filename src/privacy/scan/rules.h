/* The operator's own patterns (PCRE2) and word lists. A set is built, then handed to a scanner
 * (scanner.h) and not changed any more; then any thread may read it. What cannot be matched within
 * its limits fails closed: the whole text is one restricted finding. */
#ifndef PRIVACY_RULES_H
#define PRIVACY_RULES_H

#include "base/text/names.h"
#include "privacy/kind/spans.h"

#define PRIVACY_RULES_MAX 256
#define PRIVACY_RULE_NAME_BYTES 65
/* The rule's name in a finding that stands for a text that could not be looked at. */
#define PRIVACY_RULE_OVER_LIMIT "RULE_OVER_LIMIT"

struct privacy_rules;

/* **returns new** (privacy_rules_free); NULL without memory. */
struct privacy_rules *privacy_rules_new(void);
void privacy_rules_free(struct privacy_rules *rules);

/* Names are what findings are called: 1 to 64 of A-Z a-z 0-9 _ -. A pattern that does not compile,
 * or that matches the empty text, is TD_INVALID with PCRE2's words and the place. */
TD_MUST_CHECK enum td_status privacy_rules_add_pattern(struct privacy_rules *rules,
                                                       const char *name, const char *regex,
                                                       enum td_data_class data_class, double score,
                                                       struct td_error *err);
/* One word or phrase a line; empty lines and those that begin with # are left out. Case does not
 * matter, nor how much white space stands between the words of a phrase. */
TD_MUST_CHECK enum td_status privacy_rules_add_words(struct privacy_rules *rules, const char *name,
                                                     struct td_str lines,
                                                     enum td_data_class data_class,
                                                     struct td_error *err);

/* All findings of the rules (NULL: none), in order of their begin: *spans **returns new** (free),
 * NULL when there are none. How many; SIZE_MAX without memory. */
size_t privacy_rules_find(const struct privacy_rules *rules, struct td_str text,
                          struct privacy_span **spans);
/* What stands for a text that cannot be looked at: all of it, restricted. */
static inline struct privacy_span privacy_unread(struct td_str text)
{
    return (struct privacy_span){.kind = PRIVACY_CUSTOM,
                                 .end = text.len,
                                 .score = 1.0f,
                                 .data_class = TD_CLASS_RESTRICTED,
                                 .rule = PRIVACY_RULE_OVER_LIMIT};
}

#endif
