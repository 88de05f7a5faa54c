/* Contents of files in the database that nodes share. For file_store.c alone; both calls wait for
 * the database, part by part. Any thread. */
#ifndef LEDGER_FILE_PARTS_H
#define LEDGER_FILE_PARTS_H

#include "tandem/types.h"

struct file_store;

/* Sends what fd holds. Nobody sees it until there is a row of that id. */
TD_MUST_CHECK enum td_status file_parts_send(struct file_store *store, const char *id, int fd,
                                             struct td_error *err);
/* Makes a copy of a file that has a row in the folder. TD_NOT_FOUND: it has none. */
TD_MUST_CHECK enum td_status file_parts_fetch(struct file_store *store, const char *id,
                                              struct td_error *err);

#endif
