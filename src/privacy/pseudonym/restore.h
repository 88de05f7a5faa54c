/* Puts values back into an answer that was written with their surrogates. It works while the answer
 * streams, wherever the stream is cut: what may be the beginning of a surrogate is held back, and
 * nothing else.
 *
 * An answer may spell a surrogate in other ways: in capitals, with an ending, broken over lines,
 * with markdown inside, in JSON escapes, a number with other separators. Reading is linear in the
 * answer's length. A table is immutable (any thread); a restorer belongs to one stream. */
#ifndef PRIVACY_RESTORE_H
#define PRIVACY_RESTORE_H

#include "base/bytes/buf.h"
#include "privacy/pseudonym/vault.h"
#include "privacy/text/spell.h"

struct restore_table;

/* Of the entries that a request used. **borrows** the vault's strings until restore_table_free.
 * **returns new**; NULL without memory. */
struct restore_table *restore_table_new(const struct vault *vault, const struct vault_uses *uses);
void restore_table_free(struct restore_table *table);

struct restore_counts {
    uint64_t seen;     /* places that have a surrogate, or what looks like one */
    uint64_t restored; /* those of them that got their value back */
};

struct restore_match {
    bool on;
    uint64_t begin, end; /* offsets in the whole stream */
};

/* Where an answer has a surrogate, and the value that is put there. */
struct restore_place {
    uint32_t owner;      /* index into the uses that the table was made of */
    uint64_t begin, end; /* offsets in the whole stream */
    struct td_str value; /* **borrows** during the call */
};
typedef void restore_place_fn(void *ctx, const struct restore_place *place);

struct restorer {
    const struct restore_table *table;
    bool json;          /* the stream is JSON: values are written as in a string */
    struct buf pending; /* bytes from `head` on are not passed on yet */
    size_t head, scanned;
    uint64_t base; /* offset of pending.data[0] in the stream */
    uint32_t state;
    uint64_t total;   /* bytes of folded signs so far */
    uint64_t *begins; /* [ring] where each folded byte's sign begins; lowest bit: begins a word */
    bool after_sign, after_unspaced, unsure, rescan;
    size_t gap_bytes;
    struct backslashes backslashes;
    struct restore_match best, miss;
    uint32_t best_owner;
    struct buf best_text;
    struct restore_counts counts;
    restore_place_fn *see; /* of restore_read; may be NULL */
    void *ctx;
};

/* **borrows** table until restorer_deinit. False without memory. */
TD_MUST_CHECK bool restorer_init(struct restorer *restorer, const struct restore_table *table,
                                 bool json);
void restorer_deinit(struct restorer *restorer); /* wipes what it holds */
/* Appends to out what is certain by now. */
void restorer_feed(struct restorer *restorer, struct td_str bytes, struct buf *out);
/* The stream has ended: appends the rest. Afterwards the restorer can serve another stream. */
void restorer_end(struct restorer *restorer, struct buf *out);
/* Reads a text as if it were an answer, and reports in order where values would be put. False
 * without memory. */
TD_MUST_CHECK bool restore_read(const struct restore_table *table, struct td_str text,
                                restore_place_fn *see, void *ctx);
/* How many bytes are held back. */
static inline size_t restorer_held(const struct restorer *restorer)
{
    return restorer->pending.len - restorer->head;
}

#endif
