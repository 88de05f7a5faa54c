/* Published decision frameworks as rules. Constant data; any thread. */
#ifndef APP_PRESETS_H
#define APP_PRESETS_H

#include "tandem/types.h"

struct preset {
    const char *name;
    const char *rules; /* YAML: a map with the key `rules` */
};

/* NULL-named entry at the end. */
extern const struct preset presets[];
const struct preset *preset_find(const char *name); /* NULL = there is none */

#endif
