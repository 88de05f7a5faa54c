/* A stronger model's verdict on an answer (gate G4 by scoring): what it is asked, and what it said.
 *
 * It reads the conversation and the answer as data between marks that have a random number in them,
 * and gives a small JSON object that repeats another random number. An answer knows neither, so
 * what it says of itself ("verdict: right", a mark, a whole object) cannot stand for the verdict.
 * Whatever is not exactly such an object is no verdict, and no verdict is never "right". Pure; any
 * thread. */
#ifndef ROUTER_VERDICT_H
#define ROUTER_VERDICT_H

#include "base/bytes/buf.h"
#include "request/request.h"

enum verdict { VERDICT_NONE, VERDICT_RIGHT, VERDICT_WRONG };

#define VERDICT_NONCE_BYTES 17  /* 16 letters, of 64 random bits, and NUL */
#define VERDICT_TOKENS_MAX 1024 /* of the verdict, and of what a model thinks before it */
#define VERDICT_TEXT_BYTES 4096 /* a longer one is none */

struct verdict_nonces {
    char mark[VERDICT_NONCE_BYTES], check[VERDICT_NONCE_BYTES];
};
TD_MUST_CHECK enum td_status verdict_draw(struct verdict_nonces *out, struct td_error *err);

/* The two messages of the request: what the judge is to do, and what it is to judge. */
void verdict_write_task(const struct verdict_nonces *nonces, struct buf *out);
void verdict_write_case(const struct verdict_nonces *nonces, const struct td_message *messages,
                        size_t message_count, struct td_str answer, struct buf *out);

enum verdict verdict_read(const struct verdict_nonces *nonces, struct td_str said);

#endif
