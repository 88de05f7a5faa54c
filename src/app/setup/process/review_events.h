/* Tells webhooks (net/client/webhook.h) of tickets that come and end. The main thread's, at the
 * start and after each reload, which may bring the first tier of people. */
#ifndef APP_REVIEW_EVENTS_H
#define APP_REVIEW_EVENTS_H

struct exchange_services;
struct webhooks;

/* webhooks NULL: nobody is told. It is borrowed as long as the services' queue is used. */
void review_events_tell(struct exchange_services *services, struct webhooks *webhooks);

#endif
