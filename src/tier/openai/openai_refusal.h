/* What a server means by refusing a request: which of the codes that clients act on, which member
 * is at fault, and whether another tier may do better. Servers are not trusted, so nothing is
 * passed on as they wrote it: codes and members are compared with lists, and ours are given out.
 * No state; any thread. */
#ifndef TIER_OPENAI_REFUSAL_H
#define TIER_OPENAI_REFUSAL_H

#include "base/json/json.h"
#include "tier/tier.h"

/* http: the status of the answer; 0 = the error came in a stream, and its code says what it would
 * have been (500 where it says nothing). root: the body, or NULL. Fills *out. */
void openai_refusal_read(int http, const struct json *root, struct tier_refusal *out);

/* Whether a failure may be over in a second. A quota that is spent is not. */
bool openai_refusal_passes(const struct tier_refusal *refusal, enum td_status status);

/* Where servers put the text of an error; {NULL, 0} without one. **borrows** from root */
struct td_str openai_refusal_text(const struct json *root);

#endif
