/* The spellings of places, modes and finish reasons, on the wire, in config and on the terminal.
 * Pure functions over constant tables; any thread. */
#ifndef API_NAMES_H
#define API_NAMES_H

#include "tandem/types.h"

const char *names_place(enum td_place place); /* "device", "premises", "region", "cloud" */
bool names_place_parse(struct td_str text, enum td_place *out);

/* "auto", "only-local", "prefer-local", "prefer-cloud", "only-cloud" */
const char *names_mode(enum td_mode mode);
bool names_mode_parse(struct td_str text, enum td_mode *out);

const char *names_finish(enum td_finish finish); /* OpenAI's: "stop", "length", ... */

/* Lists of the names, NULL-terminated, for messages and help. */
extern const char *const names_places[];
extern const char *const names_modes[];
extern const char *const names_classes[];

#endif
