/* The cookie of somebody who has shown an API key to the console: whose key, until when, and a code
 * under the installation's key. The server keeps nothing, so all nodes with the same key take it. A
 * key that is revoked ends its cookies, because who it stands for is looked up at each request.
 * Pure; any thread. */
#ifndef API_SESSION_H
#define API_SESSION_H

#include "api/http/auth.h"

#define SESSION_COOKIE "tandem_session"
#define SESSION_SECONDS (12 * 3600) /* a working day */
#define SESSION_TEXT_BYTES 120

/* The cookie's value for the key of this name in records. */
void session_write(const uint8_t key[static KEYED_KEY_BYTES], const char *key_id, uint64_t now_s,
                   char out[static SESSION_TEXT_BYTES]);
/* header: of Cookie, or NULL. False, and key_id is unchanged, when it has no session that is ours
 * and not over. */
bool session_read(const uint8_t key[static KEYED_KEY_BYTES], const char *header, uint64_t now_s,
                  char key_id[static SPENDING_KEY_ID_BYTES]);

#endif
