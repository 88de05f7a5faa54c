/* A chat that asks for several answers (`n`): an exchange for each, one reply. One thread, that of
 * its loop. */
#ifndef API_SEVERAL_ANSWERS_H
#define API_SEVERAL_ANSWERS_H

#include "api/http/api_internal.h"

/* Takes over a request whose body asks for more than one answer, and replies to it. False, with
 * nothing done, for any other body: whoever reads it says what is wrong with it. */
bool several_answers_begin(struct api *api, struct http_request *request);

#endif
