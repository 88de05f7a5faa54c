/* Environment variables that stand for keys of the file: TANDEM_SERVER__LISTEN is server.listen,
 * and TANDEM_TIERS__0__MODEL is the model of the first tier. They are put into the tree before it
 * is read, so the tables of keys (keys.h) check them like what the file says. */
#ifndef APP_OVERRIDES_H
#define APP_OVERRIDES_H

#include "app/config/config_defaults.h"
#include "app/config/keys.h"

/* Puts in what `variables` ("NAME=value", ends with NULL) say, and then the short names such as
 * TANDEM_LISTEN, which are looked up in env. *tree may be NULL, and is made when something must be
 * put in. A variable that names no key is a mistake. Nodes **borrow** the arena's copies. */
void config_overrides_apply(char *const *variables, const struct config_environment *env,
                            const struct keys_source *source, struct yaml_node **tree);

#endif
