/* What every kind of answer tells of its exchange apart from the body: headers and metrics. */
#ifndef API_EXCHANGE_REPLY_H
#define API_EXCHANGE_REPLY_H

#include "api/http/reply.h"

/* The x-tandem-* headers. */
void exchange_reply_headers(struct http_request *http, const struct exchange_summary *summary);
/* The metrics of an exchange that has ended. */
void exchange_reply_count(struct api *api, const struct exchange_summary *summary);
/* The one of them that what is no exchange has as well. */
void exchange_reply_count_class(struct api *api, const char *route, enum td_data_class data_class,
                                enum exchange_end end);
/* What exchange_start's refusal means to the client who sent `body`. Some values can only be
 * checked against the configuration; then the fault names their member. */
void exchange_reply_refusal(enum td_status status, const struct td_error *err,
                            const struct json *body, struct fault *fault);
/* An answer that has to be kept, of an exchange of which nothing may be. */
void exchange_reply_unkept(struct fault *fault);
/* What an exchange that failed means to the client. */
void exchange_reply_fault(const struct exchange_event *event, struct fault *fault);

#endif
