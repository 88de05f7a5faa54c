/* Kept responses whose final answer people give later (tier/review/review.h). */
#ifndef API_KEPT_REVIEW_H
#define API_KEPT_REVIEW_H

#include "api/history/history.h"
#include "api/http/endpoint.h"

/* When a person has answered meanwhile, that answer takes the place of the interim one: in *found,
 * and in what is kept. */
void kept_review_settle(struct api *api, const char *id, struct history_found *found);
/* The response is deleted: its ticket goes with it. */
void kept_review_drop(struct api *api, const struct history_found *found);

#endif
