/* From the configuration's privacy.pseudonyms to what an exchange replaces. */
#ifndef APP_PSEUDONYM_SETUP_H
#define APP_PSEUDONYM_SETUP_H

#include "app/config/config.h"
#include "privacy/pseudonym/mask.h"

/* Types have the names of privacy/kind (CUSTOM: what the operator's own rules find). TD_INVALID
 * for a name that no type has. */
TD_MUST_CHECK enum td_status pseudonym_setup_rules(const struct config *config,
                                                   struct mask_rules *rules, struct td_error *err);

#endif
