/* The thread that looks at the device (device/device.h) beside the requests, and tells the engine
 * what the machine can spare: threads, pages, models that nobody uses. A server has one. */
#ifndef APP_DEVICE_KEEPER_H
#define APP_DEVICE_KEEPER_H

#include "app/setup/process/runtime.h"

struct device_keeper;

/* **returns new** (device_keeper_stop). The runtime lives longer. */
TD_MUST_CHECK enum td_status device_keeper_start(struct runtime *runtime,
                                                 struct device_keeper **out, struct td_error *err);
void device_keeper_stop(struct device_keeper *keeper); /* accepts NULL */

#endif
