/* LiteLLM's wishes about members of a chat: `additional_drop_params` names those to be left out,
 * and with `drop_params: true` a client would rather lose a format that cannot be held than be
 * refused. Neither wish goes on to a tier. Places inside a member ("tools[*].x") are not looked at.
 * Pure. */
#ifndef API_DROPPED_PARAMS_H
#define API_DROPPED_PARAMS_H

#include "base/bytes/buf.h"
#include "base/json/json.h"

/* Removes them from the body and appends their names, with ", " between. */
void dropped_params_apply(struct json *body, struct buf *names);

#endif
