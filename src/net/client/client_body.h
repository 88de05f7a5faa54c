/* A body that more than one transfer may send, such as a request and its repetition. Counted; all
 * holders are on one loop. */
#ifndef NET_CLIENT_BODY_H
#define NET_CLIENT_BODY_H

#include "tandem/types.h"

struct client_body;

/* **takes** the malloc'ed bytes, also when it fails; NULL without memory. */
struct client_body *client_body_new(char *bytes, size_t len);
struct client_body *client_body_hold(struct client_body *body);
void client_body_drop(struct client_body *body);                /* accepts NULL */
struct td_str client_body_view(const struct client_body *body); /* **borrows** */

#endif
