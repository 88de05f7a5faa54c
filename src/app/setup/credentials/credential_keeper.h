/* Renews credentials before they end, while tiers use them. A thread of its own asks for the next
 * one, because some take seconds; where that fails the old one stays, and the log says so. It is
 * started with the first one that ends. Any thread. */
#ifndef APP_CREDENTIAL_KEEPER_H
#define APP_CREDENTIAL_KEEPER_H

#include "app/setup/credentials/credential.h"

/* A secret whose text is kept fresh until credential_keeper_drop. One with the same source that is
 * kept already lends its text. *missing says why there is no text yet: then it is empty, and is
 * asked for again and again. tier: for the log. NULL with TD_OK: the source has none. */
TD_MUST_CHECK enum td_status credential_keeper_take(const char *tier,
                                                    const struct credential_source *source,
                                                    struct secret **out, struct td_error *missing,
                                                    struct td_error *err);
/* Frees a secret of credential_keeper_take. False: it is none of those. */
bool credential_keeper_drop(struct secret *secret);

#endif
