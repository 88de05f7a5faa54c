/* Texts of the ledger (prompts, answers, comments) as they stand in the database: encrypted under a
 * key made of the installation's, and bound to their exchange. In rows of older versions they are
 * as they were; who reads them sees no difference. Any thread. */
#ifndef LEDGER_SEALED_TEXT_H
#define LEDGER_SEALED_TEXT_H

#include "base/bytes/buf.h"
#include "base/crypto/keyed.h"

#define SEALED_TEXT_BYTES_MAX ((size_t)64 << 20) /* a record is at most 16 MiB */

/* Of this process, from now on: before the ledger is opened. Without it texts are written as they
 * are, and encrypted ones stay closed. NULL: none again. */
void sealed_text_use(const uint8_t installation_key[static KEYED_KEY_BYTES]);
void sealed_text_use_none(void);

/* Whether a text in the database is encrypted. NULL is none. */
bool sealed_text_is(const char *stored);
/* Appends what is to be stored of a text of this exchange. */
TD_MUST_CHECK enum td_status sealed_text_make(const char *exchange, const char *text,
                                              struct buf *out, struct td_error *err);
/* Appends the text of what is stored. TD_DENIED: it does not open with this process's key. */
TD_MUST_CHECK enum td_status sealed_text_open(const char *exchange, struct td_str stored,
                                              struct buf *out, struct td_error *err);

struct sealed_texts {
    uint64_t sealed, plain; /* stored so */
    uint64_t closed;        /* of the sealed ones: they do not open with this process's key */
};
struct db;
/* Looks at all of them. False: db_error. */
TD_MUST_CHECK bool sealed_texts_count(struct db *db, struct sealed_texts *out);

/* Encrypts what is plain, some rows at a time; a server may run. The old bytes are overwritten.
 * *count: how many texts were. path: of the ledger, or its database's URL. TD_DENIED: there is no
 * key. */
TD_MUST_CHECK enum td_status sealed_texts_encrypt(const char *path, uint64_t *count,
                                                  struct td_error *err);

#endif
