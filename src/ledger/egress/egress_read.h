/* Reads an egress log while it is being written, or the file that `tandem egress export` made of
 * it: a first line {"public_key": hex}, the heads, {"pending": hex} if the last head announces an
 * entry that is not written (egress_pending.h), the entries. Any thread, one caller at a
 * time. */
#ifndef LEDGER_EGRESS_READ_H
#define LEDGER_EGRESS_READ_H

#include "base/crypto/crypto_sign.h"

struct json;

#define EGRESS_KEY_HEX (2 * CRYPTO_SIGN_KEY_BYTES)

/* Gets each line without its line break; anything but TD_OK ends the reading. */
typedef enum td_status egress_line_fn(void *ctx, struct td_str line, struct td_error *err);

/* Gives out a folder as an exported file has it: key, heads, entries, in one consistent state. */
TD_MUST_CHECK enum td_status egress_each_line(const char *path, egress_line_fn *fn, void *ctx,
                                              struct td_error *err);

/* When transfers were recorded, as far as the machine's clock was right. */
struct egress_span {
    uint64_t from_wall_ms, to_wall_ms;
    size_t bytes_max; /* that are read from the first one on */
};
/* Gives out the entries of a folder from a time on, found by halving, until one is later than the
 * span. TD_LIMIT when bytes_max ends before that. */
TD_MUST_CHECK enum td_status egress_each_between(const char *folder, const struct egress_span *span,
                                                 egress_line_fn *fn, void *ctx,
                                                 struct td_error *err);

/* Puts `egress`, the entries of an exchange without the members `hidden` (NULL-terminated; NULL =
 * none), into its record by ledger_reader_find, and `egress_whole`: false where not all of its time
 * could be looked through. Nothing where there is no such folder. */
void egress_add(const char *folder, const char *const *hidden, struct json *exchange);

/* Whether the line records a transfer. */
bool egress_is_entry(struct td_str line);
/* The transfer of a line; *out is NULL where it records none, or one before `since` (as the record
 * writes times). TD_CORRUPT: the line is damaged. **returns new** (json_free). */
TD_MUST_CHECK enum td_status egress_read_entry(struct td_str line, const char *since,
                                               struct json **out, struct td_error *err);

#endif
