/* Small files of the kernel's, below a folder that may stand for another machine: one line or one
 * number each. They may be missing, empty, huge, or hold something else. What is malformed counts
 * as missing and is logged once for each file. One thread at a time. */
#ifndef DEVICE_SYSFS_H
#define DEVICE_SYSFS_H

#include "tandem/types.h"

#define SYSFS_LINE_BYTES 64
#define SYSFS_ROOT_BYTES 256
#define SYSFS_ENTRIES_MAX 64 /* of a folder; further ones are not looked at */
#define SYSFS_FAULTS_MAX 32  /* files whose fault is remembered */

struct sysfs {
    char sys[SYSFS_ROOT_BYTES + 8]; /* "/sys" */
    /* "/proc", and what stands before "/proc" and "/sys"; both only where known. */
    char proc[SYSFS_ROOT_BYTES + 8], whole[SYSFS_ROOT_BYTES];
    bool has_proc;
    uint64_t faults[SYSFS_FAULTS_MAX];
    size_t fault_count;
};

/* root: a folder like /sys; or one like /, which has a folder sys. False when it is too long. */
bool sysfs_init(struct sysfs *sysfs, const char *root);

/* The first line of the file at folder/format, without its end; folder is sysfs->sys or
 * sysfs->proc. False when there is no such file, or it is empty. */
bool sysfs_line(struct sysfs *sysfs, char out[static SYSFS_LINE_BYTES], const char *folder,
                const char *format, ...) TD_PRINTF(4, 5);

/* A number of the file, in [least, most]. False, and *out is left, when it is not one. */
struct sysfs_range {
    double least, most;
};
bool sysfs_number(struct sysfs *sysfs, double *out, struct sysfs_range range, const char *folder,
                  const char *format, ...) TD_PRINTF(5, 6);

/* Calls fn for each entry of sys/class/KIND whose name does not begin with a dot. */
typedef void sysfs_fn(struct sysfs *sysfs, const char *name, void *ctx);
void sysfs_each(struct sysfs *sysfs, const char *kind, sysfs_fn *fn, void *ctx);

/* Is there such a file or folder below sys/class? */
bool sysfs_has(const struct sysfs *sysfs, const char *kind, const char *name, const char *entry);

#endif
