/* Writes down what a program does to the files of one folder, in order, and what it sends over
 * sockets in between. Loaded with LD_PRELOAD; tests/support/power_loss.py reads the log.
 *
 *   POWER_ROOT  the folder; without it nothing is written down
 *   POWER_LOG   where to
 *   POWER_SLOW  a name: the disk takes 150 ms for files that have it in theirs
 *   POWER_BOOT  a file that stands for the kernel's id of this boot
 *
 * A record is a struct record and two texts. One lock makes one order of all. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum op {
    OP_OPEN,
    OP_WRITE,
    OP_TRUNCATE,
    OP_SYNC,
    OP_RENAME,
    OP_LINK,
    OP_UNLINK,
    OP_MKDIR,
    OP_SEND
};

struct record {
    uint32_t op, first_bytes, second_bytes, zero;
    uint64_t inode, offset;
};

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define TRACKED_MAX 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root;
static size_t root_bytes;
static int log_fd = -1;
static unsigned char tracked[TRACKED_MAX]; /* descriptors of files in the folder */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("POWER_LOG");
    root = getenv("POWER_ROOT");
    root_bytes = root ? strlen(root) : 0;
    if (root && path)
        log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                              0600);
}

static int is_ours(const char *path)
{
    return log_fd >= 0 && path && strncmp(path, root, root_bytes) == 0;
}

static int is_tracked(int fd)
{
    return log_fd >= 0 && fd >= 0 && fd < TRACKED_MAX && tracked[fd];
}

static void put(enum op op, uint64_t inode, uint64_t offset, const void *first, size_t first_bytes,
                const void *second, size_t second_bytes)
{
    struct record record = {(uint32_t)op, (uint32_t)first_bytes, (uint32_t)second_bytes, 0, inode,
                            offset};
    struct iovec parts[] = {{&record, sizeof record},
                            {(void *)(uintptr_t)first, first_bytes},
                            {(void *)(uintptr_t)second, second_bytes}};
    syscall(SYS_writev, log_fd, parts, 3);
}

static uint64_t inode_of(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? info.st_ino : 0;
}

static int note_open(const char *path, int fd)
{
    if (fd < 0 || fd >= TRACKED_MAX)
        return fd;
    tracked[fd] = (unsigned char)is_ours(path);
    if (tracked[fd])
        put(OP_OPEN, inode_of(fd), 0, path, strlen(path), NULL, 0);
    return fd;
}

/* Where the kernel says which boot this is, the test says another one. */
static const char *of_this_boot(const char *path)
{
    const char *boot = getenv("POWER_BOOT");
    return boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? boot : path;
}

static int open_any(int folder, const char *path, int flags, mode_t mode)
{
    if (!is_ours(path)) {
        int fd = (int)syscall(SYS_openat, folder, of_this_boot(path), flags, mode);
        if (fd >= 0 && fd < TRACKED_MAX)
            tracked[fd] = 0;
        return fd;
    }
    pthread_mutex_lock(&lock);
    int fd = note_open(path, (int)syscall(SYS_openat, folder, path, flags, mode));
    if (fd >= 0 && (flags & O_TRUNC))
        put(OP_TRUNCATE, inode_of(fd), 0, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return fd;
}

#define MODE_OF(flags, mode)                       \
    do {                                           \
        if ((flags) & (O_CREAT | O_TMPFILE)) {     \
            va_list args;                          \
            va_start(args, flags);                 \
            mode = (mode_t)va_arg(args, unsigned); \
            va_end(args);                          \
        }                                          \
    } while (0)

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_any(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_any(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return REAL(fopen)(of_this_boot(path), mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return REAL(fopen)(of_this_boot(path), mode);
}

static uint64_t end_of(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static ssize_t write_at(int fd, const void *data, size_t len, off_t at)
{
    if (!is_tracked(fd))
        return syscall(SYS_pwrite64, fd, data, len, at);
    pthread_mutex_lock(&lock);
    ssize_t done = syscall(SYS_pwrite64, fd, data, len, at);
    int code = errno;
    if (done > 0 && (fcntl(fd, F_GETFL) & O_APPEND)) /* Linux appends, whatever the offset */
        at = (off_t)end_of(fd) - done;
    if (done > 0)
        put(OP_WRITE, inode_of(fd), (uint64_t)at, data, (size_t)done, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = code;
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    return write_at(fd, data, len, at);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off_t at)
{
    return write_at(fd, data, len, at);
}

static int is_socket(int fd)
{
    struct stat info;
    return log_fd >= 0 && fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

ssize_t write(int fd, const void *data, size_t len)
{
    if (!is_tracked(fd) && !is_socket(fd))
        return syscall(SYS_write, fd, data, len);
    pthread_mutex_lock(&lock);
    ssize_t done = syscall(SYS_write, fd, data, len);
    int code = errno;
    if (done > 0 && is_tracked(fd))
        put(OP_WRITE, inode_of(fd), (uint64_t)(lseek(fd, 0, SEEK_CUR) - done), data, (size_t)done,
            NULL, 0);
    else if (done > 0)
        put(OP_SEND, 0, 0, data, (size_t)done, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = code;
    return done;
}

static void put_sent(const struct iovec *parts, int count, ssize_t done)
{
    for (int i = 0; i < count && done > 0; i++) {
        size_t len = parts[i].iov_len < (size_t)done ? parts[i].iov_len : (size_t)done;
        put(OP_SEND, 0, 0, parts[i].iov_base, len, NULL, 0);
        done -= (ssize_t)len;
    }
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    if (!is_socket(fd))
        return syscall(SYS_writev, fd, parts, count);
    pthread_mutex_lock(&lock);
    ssize_t done = syscall(SYS_writev, fd, parts, count);
    int code = errno;
    put_sent(parts, count, done);
    pthread_mutex_unlock(&lock);
    errno = code;
    return done;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (!is_socket(fd))
        return syscall(SYS_sendmsg, fd, message, flags);
    pthread_mutex_lock(&lock);
    ssize_t done = syscall(SYS_sendmsg, fd, message, flags);
    int code = errno;
    put_sent(message->msg_iov, (int)message->msg_iovlen, done);
    pthread_mutex_unlock(&lock);
    errno = code;
    return done;
}

static int truncate_to(int fd, off_t size)
{
    if (!is_tracked(fd))
        return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&lock);
    int done = (int)syscall(SYS_ftruncate, fd, size);
    if (done == 0)
        put(OP_TRUNCATE, inode_of(fd), (uint64_t)size, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t size)
{
    return truncate_to(fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return truncate_to(fd, size);
}

static void take_time(int fd)
{
    char link[64], path[4096];
    const char *slow = getenv("POWER_SLOW");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = slow ? readlink(link, path, sizeof path - 1) : -1;
    path[len > 0 ? len : 0] = '\0';
    if (len > 0 && strstr(path, slow))
        usleep(150000);
}

/* Not done: what counts here is the log, and a real flush would only cost time. */
static int sync_any(int fd)
{
    if (!is_tracked(fd))
        return 0;
    take_time(fd);
    pthread_mutex_lock(&lock);
    put(OP_SYNC, inode_of(fd), 0, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

int fsync(int fd)
{
    return sync_any(fd);
}

int fdatasync(int fd)
{
    return sync_any(fd);
}

static int named(enum op op, long call, const char *first, const char *second, mode_t mode)
{
    pthread_mutex_lock(&lock);
    long done = call == SYS_mkdir    ? syscall(SYS_mkdir, first, mode)
                : call == SYS_unlink ? syscall(SYS_unlink, first)
                                     : syscall(call, first, second);
    int code = errno;
    if (done == 0 && is_ours(first))
        put(op, 0, 0, first, strlen(first), second, second ? strlen(second) : 0);
    pthread_mutex_unlock(&lock);
    errno = code;
    return (int)done;
}

int rename(const char *from, const char *to)
{
    return named(OP_RENAME, SYS_rename, from, to, 0);
}

int link(const char *from, const char *to)
{
    return named(OP_LINK, SYS_link, from, to, 0);
}

int unlink(const char *path)
{
    return named(OP_UNLINK, SYS_unlink, path, NULL, 0);
}

int mkdir(const char *path, mode_t mode)
{
    return named(OP_MKDIR, SYS_mkdir, path, NULL, mode);
}
