/* The one spelling of places, modes, data classes, priorities, roles, finish reasons and cache
 * types: on the wire, in config, in the ledger and on the terminal. Pure functions over constant
 * tables; any thread. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include "tandem/types.h"

/* The name of a value; of one that no enum has: "unknown". */
const char *names_place(enum td_place place);
const char *names_mode(enum td_mode mode);
const char *names_class(enum td_data_class data_class);
const char *names_role(enum td_role role);
const char *names_finish(enum td_finish finish); /* as OpenAI spells them */
const char *names_kv_type(enum td_kv_type kv_type);

/* Exact names only; *out is untouched when the answer is false. */
bool names_mode_parse(struct td_str text, enum td_mode *out);
bool names_class_parse(struct td_str text, enum td_data_class *out);
bool names_network_parse(struct td_str text, enum td_network *out);
bool names_priority_parse(struct td_str text, enum td_priority *out);
bool names_role_parse(struct td_str text, enum td_role *out);
bool names_finish_parse(struct td_str text, enum td_finish *out);
bool names_kv_type_parse(struct td_str text, enum td_kv_type *out);

/* The names in the order of the enums, then NULL: for config choices and "did you mean". */
extern const char *const names_places[];
extern const char *const names_networks[];
extern const char *const names_modes[];
extern const char *const names_classes[];
extern const char *const names_cpus[]; /* enum td_cpu */
extern const char *const names_kv_types[];

#endif
