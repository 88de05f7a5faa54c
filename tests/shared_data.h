/* Where the golden data is: $TANDEM_SHARED, or ../shared beside the source tree (set by meson). */
#ifndef TESTS_SHARED_DATA_H
#define TESTS_SHARED_DATA_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* False when there is no such file. */
static inline bool shared_path(char *out, size_t size, const char *name)
{
    const char *folder = getenv("TANDEM_SHARED");
    snprintf(out, size, "%s/%s", folder ? folder : TANDEM_SHARED_DEFAULT, name);
    return access(out, R_OK) == 0;
}

#endif
