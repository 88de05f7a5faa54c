/* libcurl tells us with CURL_POLL_REMOVE when a socket needs no watch any more. 7.88 does so too
 * late for a socket that is still connecting: it closes the socket first and tells afterwards, and
 * if the same transfer has opened a new socket meanwhile, which gets the same number, it tells
 * nothing. Removing a watch late is harmless for our own epoll set, but the number may be a socket
 * of another thread by then. So watches are kept in a list, are stopped before a cancelled
 * connection closes, and are renewed for each new socket. Newer versions tell in time, and then
 * there is nothing to stop or to renew. */
#include "net/client/client_watch.h"

#include <stdlib.h>

struct client_watch {
    struct client_watch *previous, *next;
    struct event *event;
    const CURL *easy; /* the transfer that asked for it last, while it runs */
};

static void watch_free(struct client_watches *watches, struct client_watch *watch)
{
    if (watch->previous)
        watch->previous->next = watch->next;
    else
        watches->first = watch->next;
    if (watch->next)
        watch->next->previous = watch->previous;
    event_free(watch->event);
    free(watch);
}

struct client_watch *client_watch_replace(struct client_watches *watches, struct client_watch *old,
                                          const CURL *easy, curl_socket_t fd, int what)
{
    if (old)
        watch_free(watches, old);
    if (what == CURL_POLL_REMOVE)
        return NULL;
    int events =
        EV_PERSIST | (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0);
    struct client_watch *watch = calloc(1, sizeof *watch);
    struct event *event =
        watch ? event_new(watches->base, fd, (short)events, watches->on_event, watches->ctx) : NULL;
    if (event == NULL || event_add(event, NULL) != 0) {
        if (event)
            event_free(event);
        free(watch);
        return NULL;
    }
    *watch = (struct client_watch){.next = watches->first, .event = event, .easy = easy};
    if (watch->next)
        watch->next->previous = watch;
    watches->first = watch;
    return watch;
}

void client_watches_renew(struct client_watches *watches, curl_socket_t fd)
{
    for (struct client_watch *watch = watches->first; watch; watch = watch->next)
        if (event_get_fd(watch->event) == fd) {
            event_del(watch->event);
            (void)event_add(watch->event, NULL); /* without memory, a time-out tells */
        }
}

void client_watches_leave(struct client_watches *watches, const CURL *easy, bool closing)
{
    for (struct client_watch *watch = watches->first; watch; watch = watch->next) {
        if (watch->easy != easy)
            continue;
        watch->easy = NULL;
        if (closing)
            event_del(watch->event);
    }
}

void client_watches_free(struct client_watches *watches)
{
    while (watches->first)
        watch_free(watches, watches->first);
}
