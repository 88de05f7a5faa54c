/* Members of a body that change how tokens are drawn or when an answer ends, in the words of other
 * servers: what the local engine has not got is not for it, and another tier gets the member as it
 * came. No state. */
#ifndef ROUTER_SAMPLING_MEMBERS_H
#define ROUTER_SAMPLING_MEMBERS_H

#include "base/json.h"

/* llama.cpp's `samplers`: those that the list leaves out are turned off. False: it names one that
 * the engine has not got, or wants those that are on in another order than engine/sampling/sampler.h's.
 * Mirostat takes the place of all of them. */
bool sampling_members_follow(const struct json *list, struct td_sampling *sampling);

/* The member that the local engine would ignore, or NULL. Static. */
const char *sampling_members_foreign(const struct td_request *request);

#endif
