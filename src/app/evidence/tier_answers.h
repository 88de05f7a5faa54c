/* Answers of a tier to one prompt after the other, with what is known of their tokens. For fitting
 * its confidence model, and for measuring how often it is right. One thread; blocks. */
#ifndef APP_TIER_ANSWERS_H
#define APP_TIER_ANSWERS_H

#include "base/json/json.h"
#include "tandem/engine.h"

struct tier_answers;
struct tier_facts;

/* Opens the tier of that name in the configuration (NULL: as config_load takes it); name NULL: the
 * first whose place is the device. A local tier runs in this process as a server would run it, with
 * its model and adapters. arguments: as in struct runtime_options; NULL = a local tier is refused.
 * *out is to be closed also after a failure (tier_answers_close). */
TD_MUST_CHECK enum td_status tier_answers_open(const char *config_path, const char *name,
                                               char *const *arguments, struct tier_answers **out,
                                               struct td_error *err);
void tier_answers_close(struct tier_answers *tier); /* accepts NULL */

/* Asks the prompt of a line ("prompt" or "messages") at temperature 0. on_token: each token's
 * stats, NULL where there are none, and the text that comes with it. */
TD_MUST_CHECK enum td_status
tier_answers_ask(struct tier_answers *tier, const struct json *line, uint32_t tokens_max,
                 bool (*on_token)(void *ctx, const struct td_token *token, struct td_str text),
                 void *ctx, enum td_finish *finish, struct td_error *err);

const struct tier_facts *tier_answers_facts(const struct tier_answers *tier);
/* What the server said that it is, with every answer; 0 = it was not asked yet. */
uint64_t tier_answers_identity(const struct tier_answers *tier);

#endif
