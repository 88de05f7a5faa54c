/* A server's operators get models (api_host.h): one pull at a time, on a thread of its own. It ends
 * with the process, and the next one of the same model continues it. */
#ifndef APP_PULL_DESK_H
#define APP_PULL_DESK_H

#include "api/http/api_host.h"

struct pull_desk;

/* config_path: as a command takes it; **borrowed**. **returns new** (pull_desk_free), NULL without
 * memory. */
struct pull_desk *pull_desk_new(const char *config_path);
/* Ends the pull that runs and waits for it. Accepts NULL. */
void pull_desk_free(struct pull_desk *desk);
struct api_models pull_desk_calls(struct pull_desk *desk);

#endif
