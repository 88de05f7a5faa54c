/* The text of a configuration as it is shown, and what in it may be changed by whom. No state. */
#ifndef APP_CONFIG_TEXT_H
#define APP_CONFIG_TEXT_H

#include "app/config/config.h"
#include "base/bytes/buf.h"

struct json;

/* The text of `config` with the values of headers, which may be secrets, as "(hidden 1)" and so
 * on. TD_UNSUPPORTED where one of them cannot be told from the rest of the text. */
TD_MUST_CHECK enum td_status config_text_hide(const struct config *config, struct td_str text,
                                              struct buf *out, struct td_error *err);
/* Puts them back into a text; `config` is the one that was shown. */
void config_text_restore(const struct config *config, struct td_str text, struct buf *out);

/* The sections that may be changed where nobody needs a key; ends with NULL. The others name
 * files, programs, secrets or where data goes: whoever reaches the machine would get at them. */
extern const char *const config_text_open_sections[];

/* What of a change is refused: {"line", "text"} for each. `before` NULL = there was nothing. */
void config_text_refuse(const struct config *before, const struct config *after, bool open,
                        struct json *errors);

#endif
