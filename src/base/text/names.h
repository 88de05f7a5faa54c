/* The one spelling of every enum that is written somewhere: on the wire, in the configuration, in
 * the ledger and on the terminal. Pure functions over constant tables; any thread.
 *
 * A table of names stands in the order of its enum, so that the index is the value, and ends with
 * NULL. To give an enum names, add its table and its functions to names.c (one line each with
 * NAME_OF and PARSE_OF), their declarations here, and a loop to tests/unit/base/test_names.c. A
 * module that alone writes an enum may keep the table and use the first three functions. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include "base/core/outcome.h"
#include "tandem/types.h"

/* How far data travels to reach a tier, in order: data that may reach a place may also reach nearer
 * ones. */
enum td_place { TD_PLACE_DEVICE, TD_PLACE_PREMISES, TD_PLACE_REGION, TD_PLACE_CLOUD };

/* Ordered from free to most protected. Within a conversation the class only rises.
 * TD_CLASS_RESTRICTED never leaves the device. */
enum td_data_class {
    TD_CLASS_PUBLIC,
    TD_CLASS_SENSITIVE,
    TD_CLASS_CONTRACTUAL, /* goes only where a contract or a certificate allows it */
    TD_CLASS_RESTRICTED
};

enum td_mode {
    TD_MODE_AUTO,
    TD_MODE_ONLY_LOCAL,
    TD_MODE_PREFER_LOCAL,
    TD_MODE_PREFER_CLOUD,
    TD_MODE_ONLY_CLOUD
};

/* Whose work the local engine does first when there is more than it can do at once. */
enum td_priority {
    TD_PRIORITY_INTERACTIVE, /* somebody waits */
    TD_PRIORITY_BATCH,       /* gets what the others leave, and a turn after a long wait */
    TD_PRIORITY_SPARE /* only while nobody else runs; ended (TD_BUSY) when its place is needed */
};

enum td_network { TD_NETWORK_UNKNOWN, TD_NETWORK_ONLINE, TD_NETWORK_METERED, TD_NETWORK_OFFLINE };

/* For any table: the name of a value ("unknown" when it has none), and the value of an exact name.
 * *value is untouched when the answer is false. */
const char *names_table_name(const char *const *names, size_t value);
bool names_table_find(const char *const *names, struct td_str text, size_t *value);
size_t names_table_count(const char *const *names); /* without the NULL: for error_suggest */

/* The name of a value; "unknown" for a value outside the enum. */
const char *names_place(enum td_place place);
const char *names_mode(enum td_mode mode);
const char *names_class(enum td_data_class data_class);
const char *names_role(enum td_role role);
const char *names_finish(enum td_finish finish); /* as OpenAI spells them */
const char *names_kv_type(enum td_kv_type kv_type);
const char *names_outcome(enum attempt_outcome outcome);
const char *names_end(enum exchange_end end);
const char *names_reaction(enum reaction reaction);
const char *names_standing(enum answer_standing standing);
const char *names_basis(enum cost_basis basis);

/* The value of an exact name; *out is untouched when the answer is false. */
bool names_mode_parse(struct td_str text, enum td_mode *out);
bool names_class_parse(struct td_str text, enum td_data_class *out);
bool names_network_parse(struct td_str text, enum td_network *out);
bool names_priority_parse(struct td_str text, enum td_priority *out);
bool names_role_parse(struct td_str text, enum td_role *out);
bool names_finish_parse(struct td_str text, enum td_finish *out);
bool names_kv_type_parse(struct td_str text, enum td_kv_type *out);
bool names_outcome_parse(struct td_str text, enum attempt_outcome *out);
bool names_end_parse(struct td_str text, enum exchange_end *out);

/* The tables that the configuration reads as choices, and for error_suggest. */
extern const char *const names_places[];
extern const char *const names_networks[];
extern const char *const names_modes[];
extern const char *const names_classes[];
extern const char *const names_cpus[]; /* enum td_cpu */
extern const char *const names_kv_types[];

#endif
