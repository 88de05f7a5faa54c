/* How an answer may write a surrogate, and how the value is then written there. Pure functions; any
 * thread. */
#ifndef PRIVACY_RESTORE_SPELL_H
#define PRIVACY_RESTORE_SPELL_H

#include "base/bytes/buf.h"
#include "privacy/pseudonym/vault.h"

/* The most bytes of separators between two letters or digits of a surrogate. */
#define RESTORE_GAP_BYTES_MAX 16

/* raw has the letters and digits of the surrogate. Could a rewriting of the surrogate have put
 * raw's separators between them? */
bool restore_gaps_fit(const struct vault_entry *entry, struct td_str raw);

enum restore_edge { EDGE_NO, EDGE_YES, EDGE_UNKNOWN };
/* May the surrogate end at the offset, or does a longer word go on there? UNKNOWN: that depends on
 * bytes after the text; more: such bytes may come. */
enum restore_edge restore_edge_at(const struct vault_entry *entry, struct td_str text, size_t end,
                                  bool more);

/* Appends the value, spelled as raw spells the surrogate. json: inside a JSON string. */
void restore_respell(const struct vault_entry *entry, struct td_str raw, bool json,
                     struct buf *out);
/* Appends it as it was. */
void restore_exactly(struct td_str original, bool json, struct buf *out);

#endif
