/* The control groups that this process is in, version 1 and 2, below `root`, which is "" outside
 * tests. No state; any thread. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include "tandem/types.h"

/* Called with the folder of a group's files. */
typedef void cgroup_fn(void *ctx, const char *folder, bool version_2);

/* Visits the group of this process for `controller` ("cpu", "memory") and the groups around it,
 * innermost first. What cannot be read is left out. */
void cgroup_walk(const char *root, const char *controller, cgroup_fn *visit, void *ctx);

/* Reads the beginning of the file folder/name; false when it cannot be read or is empty. */
bool cgroup_read(const char *folder, const char *name, char *out, size_t capacity);

#endif
