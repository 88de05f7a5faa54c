/* How often an address may show a wrong key to the console's login. All loops of a server have one.
 * Any thread. */
#ifndef API_LOGIN_LIMIT_H
#define API_LOGIN_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LOGIN_FAILURES_MAX 10 /* people mistype; who tries more is a program */
#define LOGIN_WINDOW_S 60

struct login_limit;

struct login_limit *
login_limit_new(void); /* **returns new** (login_limit_free), NULL without memory */
void login_limit_free(struct login_limit *limit);

/* Seconds until this address (numeric) may try again; 0 = now. */
uint32_t login_limit_wait_s(struct login_limit *limit, const char *peer, uint64_t now_ms);
/* The address has shown a wrong key. now_ms: monotonic. */
void login_limit_note(struct login_limit *limit, const char *peer, uint64_t now_ms);

#endif
