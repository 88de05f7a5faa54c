/* The kernel kills a process that goes over the limit of its control group, so the limit is looked
 * at before much memory is used. `memory.current` (version 1: `memory.usage_in_bytes`) counts pages
 * that only cache files, too. The kernel gives those up first, so they count as free, as they do in
 * MemAvailable of /proc/meminfo. */
#include "base/machine/memory_free.h"

#include "base/bytes/path.h"
#include "base/machine/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TEXT_BYTES 16384
#define FOLDER_BYTES 4096

/* The number behind a word at the begin of a line; 0 when there is none. */
static uint64_t number_after(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, word, len) == 0 && (line[len] == ' ' || line[len] == ':'))
            return strtoull(line + len + 1, NULL, 10);
    return 0;
}

static bool read_number(const char *folder, const char *name, uint64_t *out)
{
    char text[64], *rest;
    if (!cgroup_read(folder, name, text, sizeof text))
        return false;
    *out = strtoull(text, &rest, 10);
    return rest != text; /* "max": no limit */
}

/* Less what is used, but for cached files. */
static void narrow(void *ctx, const char *folder, bool version_2)
{
    static const char *const names[2][4] = {
        {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file",
         "total_inactive_file"},
        {"memory.max", "memory.current", "active_file", "inactive_file"},
    };
    const char *const *name = names[version_2];
    struct memory_free *out = ctx;
    char text[TEXT_BYTES];
    uint64_t limit, used;
    if (!read_number(folder, name[0], &limit) || !read_number(folder, name[1], &used))
        return;
    uint64_t cached = 0;
    if (cgroup_read(folder, "memory.stat", text, sizeof text))
        cached = number_after(text, name[2]) + number_after(text, name[3]);
    used -= cached < used ? cached : used;
    uint64_t left = limit > used ? limit - used : 0;
    if (left < out->ram_bytes) {
        out->ram_bytes = left;
        out->bound = "limit of the control group";
    }
}

static uint64_t machine_bytes(const char *root)
{
    char folder[FOLDER_BYTES], text[TEXT_BYTES];
    if (path_join(folder, sizeof folder, root, "proc", NULL) == TD_OK &&
        cgroup_read(folder, "meminfo", text, sizeof text) && number_after(text, "MemAvailable"))
        return number_after(text, "MemAvailable") * 1024;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
}

static uint64_t space_bytes(const char *root)
{
    char folder[FOLDER_BYTES];
    uint64_t pages;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    if (path_join(folder, sizeof folder, root, "proc/self", NULL) != TD_OK ||
        !read_number(folder, "statm", &pages))
        return limit.rlim_cur;
    uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

void memory_free_read(const char *root, struct memory_free *out)
{
    out->ram_bytes = machine_bytes(root);
    out->bound = "memory of the machine";
    out->space_bytes = space_bytes(root);
    cgroup_walk(root, "memory", narrow, out);
}
