/* The events of one client's sockets, which libcurl asks for. One thread: the client's loop. */
#ifndef NET_CLIENT_WATCH_H
#define NET_CLIENT_WATCH_H

#include <curl/curl.h>
#include <event2/event.h>
#include <stdbool.h>

struct client_watch;

struct client_watches {
    struct event_base *base;
    event_callback_fn on_event;
    void *ctx; /* of on_event */
    struct client_watch *first;
};

/* Replaces `old`, which may be NULL, by a watch for `what` (CURL_POLL_*) on fd, for the transfer
 * `easy`. Returns new, freed here again with CURL_POLL_REMOVE or client_watches_free, or NULL: no
 * watch was asked for, or there is no memory for it. */
struct client_watch *client_watch_replace(struct client_watches *watches, struct client_watch *old,
                                          const CURL *easy, curl_socket_t fd, int what);
/* A socket was opened with this number. A watch that still has the number is one of a closed
 * socket, of which the kernel no longer knows: from now on it is one of the new socket. */
void client_watches_renew(struct client_watches *watches, curl_socket_t fd);
/* The transfer ends, and its address may be another one's soon. closing: nobody shares its sockets,
 * which libcurl closes next, so their watches end now. */
void client_watches_leave(struct client_watches *watches, const CURL *easy, bool closing);
void client_watches_free(struct client_watches *watches);

#endif
