/* Keeps the cache of answers over a restart when the operator asks for it (cache.on_disk), in one
 * file of the state folder. It is encrypted (vault_bytes.h) with a key of the installation's. As
 * with vaults it is read and removed at the start and written at the end, so that no disk holds
 * what expired or was forgotten meanwhile. What cannot be read is a cache less. */
#ifndef APP_ANSWERS_KEEP_H
#define APP_ANSWERS_KEEP_H

#include "app/config/config.h"

struct answer_cache;

void answers_keep_load(const struct config *config, struct answer_cache *cache);
void answers_keep_save(const struct config *config, struct answer_cache *cache);
/* Removes the file when no server runs: it does not say whose an answer is in words. */
TD_MUST_CHECK enum td_status answers_keep_remove(const struct config *config, struct td_error *err);

#endif
