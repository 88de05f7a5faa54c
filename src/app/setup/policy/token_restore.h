/* What a server knows of how other servers count tokens, when it starts. */
#ifndef APP_TOKEN_RESTORE_H
#define APP_TOKEN_RESTORE_H

#include "app/config/config.h"

struct token_counts;

/* Reads the newest exchanges of the ledger. */
TD_MUST_CHECK enum td_status token_counts_restore(const struct config *config,
                                                  struct token_counts *counts,
                                                  struct td_error *err);

#endif
