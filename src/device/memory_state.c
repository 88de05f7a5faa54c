/* PSI is "some avg10=0.12 avg60=... total=..." and the same for "full"
 * (Documentation/accounting/psi.rst). A control group has it in `memory.pressure` (version 2). The
 * worst of the groups and the machine counts: the kernel kills in the group that is short. */
#include "device/memory_state.h"

#include "base/machine/cgroup.h"
#include "base/machine/memory_free.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 8192

/* The percentage of a line; NAN when there is none. */
static double average(const char *text, const char *kind)
{
    double value;
    char format[32];
    const char *line = strstr(text, kind);
    snprintf(format, sizeof format, "%s avg10=%%lf", kind);
    return line && sscanf(line, format, &value) == 1 && value >= 0 && value <= 100 ? value
                                                                                   : (double)NAN;
}

static void note_pressure(struct memory_state *out, const char *text)
{
    out->some = fmax(out->some, average(text, "some"));
    out->full = fmax(out->full, average(text, "full"));
}

static void note_limit(struct memory_state *out, const char *text)
{
    char *end;
    unsigned long long limit = strtoull(text, &end, 10);
    if (end != text && limit > 0 && limit < out->total_bytes)
        out->total_bytes = limit;
}

static void read_group(void *ctx, const char *folder, bool version_2)
{
    struct memory_state *out = ctx;
    char text[256];
    if (version_2 && cgroup_read(folder, "memory.pressure", text, sizeof text))
        note_pressure(out, text);
    if (cgroup_read(folder, version_2 ? "memory.max" : "memory.limit_in_bytes", text, sizeof text))
        note_limit(out, text);
}

void memory_state_read(struct sysfs *sysfs, struct memory_state *out)
{
    struct memory_free left;
    char text[TEXT_BYTES];
    unsigned long long total;
    *out = (struct memory_state){
        .some = (double)NAN, .full = (double)NAN, .load = (double)NAN, .total_bytes = UINT64_MAX};
    if (!sysfs->has_proc || !cgroup_read(sysfs->proc, "meminfo", text, sizeof text) ||
        sscanf(text, "MemTotal: %llu", &total) != 1 || total == 0 || total > UINT64_MAX / 1024)
        return;
    out->total_bytes = total * 1024;
    if (cgroup_read(sysfs->proc, "pressure/memory", text, sizeof text))
        note_pressure(out, text);
    if (cgroup_read(sysfs->proc, "loadavg", text, sizeof text) &&
        (sscanf(text, "%lf", &out->load) != 1 || !(out->load >= 0)))
        out->load = (double)NAN;
    cgroup_walk(sysfs->whole, "memory", read_group, out);
    memory_free_read(sysfs->whole, &left);
    out->free_bytes = left.ram_bytes;
    out->known = true;
}
