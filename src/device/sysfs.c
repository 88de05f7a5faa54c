/* A file is opened without waiting (a FIFO would hang), and only its first bytes are read, so that
 * a huge file costs no more than a small one. */
#include "device/sysfs.h"

#include "base/bytes/path.h"
#include "base/crypto/hash.h"
#include "base/time/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 512

bool sysfs_init(struct sysfs *sysfs, const char *root)
{
    *sysfs = (struct sysfs){.fault_count = 0};
    char inside[PATH_BYTES];
    if (strlen(root) >= SYSFS_ROOT_BYTES)
        return false;
    bool whole =
        path_join(inside, sizeof inside, root, "sys", NULL) == TD_OK && access(inside, X_OK) == 0;
    bool real = strcmp(root, "/sys") == 0;
    sysfs->has_proc = whole || real;
    snprintf(sysfs->whole, sizeof sysfs->whole, "%s", whole ? root : "");
    snprintf(sysfs->sys, sizeof sysfs->sys, "%s%s", root, whole ? "/sys" : "");
    snprintf(sysfs->proc, sizeof sysfs->proc, "%s/proc", sysfs->whole);
    return true;
}

/* Says once what is wrong with a file. */
static void complain(struct sysfs *sysfs, const char *path, const char *text)
{
    uint64_t file = hash_fnv1a64(path, strlen(path), HASH_FNV1A64_BASIS);
    for (size_t i = 0; i < sysfs->fault_count; i++)
        if (sysfs->faults[i] == file)
            return;
    if (sysfs->fault_count == SYSFS_FAULTS_MAX)
        return;
    sysfs->faults[sysfs->fault_count++] = file;
    log_event(LOG_LEVEL_WARN, "device_file_malformed",
              "file=%s begins=\"%.24s\" then=\"it counts as missing\"", path, text);
}

static bool format_path(char path[static PATH_BYTES], const char *folder, const char *format,
                        va_list args)
{
    char name[PATH_BYTES];
    int len = vsnprintf(name, sizeof name, format, args);
    return len > 0 && (size_t)len < sizeof name &&
           path_join(path, PATH_BYTES, folder, name, NULL) == TD_OK;
}

static bool read_line(const char *path, char out[static SYSFS_LINE_BYTES], bool *whole)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    ssize_t len = read(fd, out, SYSFS_LINE_BYTES - 1);
    close(fd);
    if (len < 0)
        return false; /* a sensor that sleeps */
    out[len] = '\0';
    size_t end = strcspn(out, "\n");
    *whole = out[end] == '\n' || len < SYSFS_LINE_BYTES - 1;
    out[end] = '\0';
    return true;
}

bool sysfs_line(struct sysfs *sysfs, char out[static SYSFS_LINE_BYTES], const char *folder,
                const char *format, ...)
{
    (void)sysfs;
    char path[PATH_BYTES];
    bool whole;
    va_list args;
    va_start(args, format);
    bool good = format_path(path, folder, format, args);
    va_end(args);
    return good && read_line(path, out, &whole) && out[0] != '\0';
}

bool sysfs_number(struct sysfs *sysfs, double *out, struct sysfs_range range, const char *folder,
                  const char *format, ...)
{
    char path[PATH_BYTES], text[SYSFS_LINE_BYTES], *end;
    bool whole;
    va_list args;
    va_start(args, format);
    bool good = format_path(path, folder, format, args);
    va_end(args);
    if (!good || !read_line(path, text, &whole))
        return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || !whole) {
        complain(sysfs, path, text);
        return false;
    }
    if ((double)value < range.least || (double)value > range.most)
        return false; /* drivers say so of what they do not know */
    *out = (double)value;
    return true;
}

void sysfs_each(struct sysfs *sysfs, const char *kind, sysfs_fn *fn, void *ctx)
{
    char path[PATH_BYTES];
    if (path_format(path, sizeof path, NULL, "%s/class/%s", sysfs->sys, kind) != TD_OK)
        return;
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int count = 0;
    while (folder && count < SYSFS_ENTRIES_MAX && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        fn(sysfs, entry->d_name, ctx);
        count++;
    }
    if (folder)
        closedir(folder);
}

bool sysfs_has(const struct sysfs *sysfs, const char *kind, const char *name, const char *entry)
{
    char path[PATH_BYTES];
    return path_format(path, sizeof path, NULL, "%s/class/%s/%s/%s", sysfs->sys, kind, name,
                       entry) == TD_OK &&
           access(path, F_OK) == 0;
}
