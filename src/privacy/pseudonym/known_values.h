/* Finds the vault's values everywhere in a text, also where no detector saw them. A value that was
 * found once must not leave through a second place that looks harmless. One owner. */
#ifndef PRIVACY_KNOWN_VALUES_H
#define PRIVACY_KNOWN_VALUES_H

#include "privacy/kind/spans.h"
#include "privacy/pseudonym/vault.h"

struct known_values;
struct privacy_scanner;

/* The values of the entries that were used. rule_of[VAULT_ENTRIES_MAX]: which rule found an entry
 * of kind PRIVACY_CUSTOM (may be NULL). **borrows** all until known_values_free. **returns new**;
 * NULL when the values are too long. */
struct known_values *known_values_new(const struct privacy_scanner *scanner,
                                      const struct vault *vault, const struct vault_uses *uses,
                                      const char *const *rule_of);
void known_values_free(struct known_values *known);

/* Adds to *all (empty before), in order, the findings of the detectors and the known values between
 * them, also those that show only in a form in which a scan reads the text another way. False
 * without memory, or when there are more than count_max. */
TD_MUST_CHECK bool known_values_find(struct known_values *known, struct td_str text,
                                     const struct spans *found, size_t count_max,
                                     struct spans *all);

#endif
