/* One line about the state of this machine. */
#ifndef APP_DEVICE_WORDS_H
#define APP_DEVICE_WORDS_H

#include "tandem/types.h"

/* Looks at the device below `root` (config.device.root). True when nothing needs to be spared. */
bool device_words_write(const char *root, char *out, size_t size);

#endif
