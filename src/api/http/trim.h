/* Memory that large requests leave behind goes back to the system. One loop's thread. */
#ifndef API_TRIM_H
#define API_TRIM_H

#include "api/http/api_internal.h"

/* A request with so many bytes of body begins. False without memory for what follows it. */
bool trim_weigh(struct api *api, size_t bytes);
/* A call has ended: after a large one, memory is given back some time later. */
void trim_call_ended(struct api *api);

#endif
