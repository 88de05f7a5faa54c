/* Notices at once that the machine's network went or came back: the kernel says so (rtnetlink), and
 * then the interfaces are read again. What has changed is logged, tiers that rest are looked for,
 * and questions that wait are woken. One for the process, on one worker's loop. */
#ifndef APP_LINK_WATCH_H
#define APP_LINK_WATCH_H

#include "api/http/api_host.h"
#include "base/thread/loop.h"

struct link_watch;

/* **returns new** (link_watch_free); NULL without memory. Where the kernel cannot be asked, the
 * interfaces are read every second. **borrows** host. */
struct link_watch *link_watch_new(struct loop *loop, const struct api_host *host);
void link_watch_free(struct link_watch *watch); /* accepts NULL */

#endif
