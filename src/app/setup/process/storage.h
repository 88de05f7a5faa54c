/* What a process keeps in files: that nobody else writes them, and that they can be written. Opened
 * and closed by the main thread; one thread looks; any thread asks what was seen. */
#ifndef APP_STORAGE_H
#define APP_STORAGE_H

#include "app/setup/process/services_setup.h"

struct storage;

/* Takes the state folder, and the file of vaults if there is one, for this process alone. Another
 * owner that is about to end is awaited for wait_ms; TD_BUSY names it. **returns new**
 * (storage_close). */
TD_MUST_CHECK enum td_status storage_open(const struct config *config, uint32_t wait_ms,
                                          struct storage **out, struct td_error *err);
void storage_close(struct storage *storage);
/* Tells others who look for the owner where it listens. */
void storage_tell_address(struct storage *storage, const char *address);

/* What is to be looked at from now on: what of it is open. */
void storage_watch(struct storage *storage, struct services_parts *parts);
/* Looks whether it can still be written. A change is logged. */
void storage_look(struct storage *storage);
/* What was not in order at the last look, without names of files; NULL = all was. */
const char *storage_fault(struct storage *storage);

#endif
