/* The GNU C library reads only at the start of a process that freed memory is to be overwritten.
 * So the process restarts itself once, with the variable set, before it has read any text. */
#include "app/setup/privacy/retention.h"

#include "base/core/error.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* perturb: free() fills what it is given; but not what it puts into a thread's cache of small
 * pieces, which is therefore switched off (glibc's manual, "Memory Allocation Tunables"). It
 * reaches every library of the process, which wiping in our own containers would not. */
#define TUNABLES "glibc.malloc.perturb=85:glibc.malloc.tcache_count=0"
#define VARIABLE "GLIBC_TUNABLES"
#define ARGUMENTS_MAX 64

/* Does this process overwrite what it frees? */
static bool is_hard(void)
{
    const char *set = getenv(VARIABLE);
    return set && strstr(set, TUNABLES) != NULL;
}

static enum td_status begin_anew(char *const *arguments, struct td_error *err)
{
    char program[] = "tandem", *all[ARGUMENTS_MAX + 2] = {program}, value[1024];
    const char *set = getenv(VARIABLE);
    size_t count = 0;
    while (arguments[count] && count < ARGUMENTS_MAX) {
        all[count + 1] = arguments[count];
        count++;
    }
    int len =
        snprintf(value, sizeof value, "%s%s" TUNABLES, set ? set : "", set && *set ? ":" : "");
    if (arguments[count] || len < 0 || (size_t)len >= sizeof value ||
        setenv(VARIABLE, value, 1) != 0)
        return error_set(err, TD_LIMIT,
                         "privacy.zero_retention: too many arguments, or a " VARIABLE
                         " that is too long");
    execv("/proc/self/exe", all);
    return error_set(err, TD_IO, "privacy.zero_retention: the program cannot restart itself: %s",
                     strerror(errno));
}

enum td_status retention_harden(char *const *arguments, struct td_error *err)
{
    const struct rlimit none = {0, 0};
    if (!is_hard())
        return begin_anew(arguments, err);
    mallopt(M_MMAP_THRESHOLD,
            1 << 20); /* large pieces go back to the system with what was in them */
    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0)
        return error_set(err, TD_IO,
                         "privacy.zero_retention: core files cannot be switched off: %s",
                         strerror(errno));
    return TD_OK;
}
