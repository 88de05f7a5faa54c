/* What every kind of answer tells of its exchange beside the body: headers and metrics. */
#ifndef API_EXCHANGE_REPLY_H
#define API_EXCHANGE_REPLY_H

#include "api/api_internal.h"

/* The x-tandem-* headers. */
void exchange_reply_headers(struct http_request *http, const struct exchange_summary *summary);
/* summary NULL: cancelled before anything is known. status: "answered", "failed", "cancelled". */
void exchange_reply_count(struct api *api, const struct exchange_summary *summary,
                          const char *status);
/* What an exchange that failed means to the client. */
void exchange_reply_fault(const struct exchange_event *event, struct fault *fault);

#endif
