/* Signals and reasons of an exchange are most of its bytes, and every exchange has the same words
 * in them. So a file holds them packed (base/bytes/deflater.h). Internal to ledger/.
 *
 *   offset  size  of column `packed`
 *   0       1     1: the words of schema/record_words.txt, which never change; + 2: no signals;
 *                 + 4: no reasons
 *   1       3     bytes of the signals, little-endian
 *   4       3     bytes of the reasons
 *   7       ..    both texts, raw deflate
 *
 * Rejected: a table of words for each ledger, which packs better, but then a word of one user would
 * outlive the rest of it (ledger/record/forget.h). */
#ifndef LEDGER_DB_SQLITE_TEXTS_H
#define LEDGER_DB_SQLITE_TEXTS_H

#include "tandem/types.h"

struct sqlite3;

/* Gives the connection these functions, until it is closed:
 *   packed(SIGNALS, REASONS)   a value for `packed`; NULL where both are NULL
 *   unpacked(PACKED, 0 or 1)   the signals or the reasons; fails where they are damaged */
TD_MUST_CHECK bool db_sqlite_texts_add(struct sqlite3 *handle);

/* Lets a reader see the table `exchange` as if nothing were packed: a view for this connection
 * alone, of the same name. */
extern const char db_sqlite_texts_view[];

#endif
