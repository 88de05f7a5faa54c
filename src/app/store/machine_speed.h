/* How fast this machine goes through the weights of a model. */
#ifndef APP_MACHINE_SPEED_H
#define APP_MACHINE_SPEED_H

#include <stdint.h>

/* Measured for about half a second with the kernel that decodes Q4_K, the usual type, on as many
 * threads as the engine would take (*threads). Bytes a second; 0 when there was no memory for it. A
 * token of a model takes about its bytes divided by this. */
double machine_speed_measure(uint32_t *threads);

#endif
