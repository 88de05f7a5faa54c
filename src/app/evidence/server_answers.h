/* Answers of a tier's server to one prompt after the other, with what it says of their tokens. For
 * fitting its confidence model. One thread; blocks. */
#ifndef APP_SERVER_ANSWERS_H
#define APP_SERVER_ANSWERS_H

#include "base/json.h"
#include "tandem/engine.h"

struct server_answers;

/* Opens the tier of that name in the configuration (NULL: as config_load takes it). **returns new**
 * (server_answers_close). */
TD_MUST_CHECK enum td_status server_answers_open(const char *config_path, const char *tier,
                                                 struct server_answers **out, struct td_error *err);
void server_answers_close(struct server_answers *server);

/* Asks the prompt of a line ("prompt" or "messages") at temperature 0. on_token: each token's
 * stats, and the text that comes with it. TD_UNSUPPORTED: the server gives no log-probabilities. */
TD_MUST_CHECK enum td_status
server_answers_ask(struct server_answers *server, const struct json *line, uint32_t tokens_max,
                   bool (*on_token)(void *ctx, const struct td_token *token, struct td_str text),
                   void *ctx, enum td_finish *finish, struct td_error *err);

const char *server_answers_model(const struct server_answers *server); /* at that tier */
/* What the server said that it is, with every answer; 0 = it was not asked yet. */
uint64_t server_answers_identity(const struct server_answers *server);

#endif
