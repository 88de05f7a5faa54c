/* What the verbs of `tandem keys` share: the store of the configuration's state folder, and how a
 * key is printed. One thread. */
#ifndef APP_KEY_COMMAND_H
#define APP_KEY_COMMAND_H

#include "api/admin/key_desk.h"

struct config;

struct key_command {
    struct config *config;
    struct key_desk desk;
};

/* create: the store is made when it is missing. key_command_close, also after a failure. */
TD_MUST_CHECK enum td_status key_command_open(const char *config_path, bool create,
                                              struct key_command *out, struct td_error *err);
void key_command_close(struct key_command *command);

/* Shows the key as JSON, or what `words` say of it (a format for its name and its id). A new text
 * stands on a line of its own. Returns the exit code. */
int key_command_print(const struct key_command *command, const char *verb,
                      const struct stored_key *key, const char *text, const char *words,
                      bool as_json);

#endif
