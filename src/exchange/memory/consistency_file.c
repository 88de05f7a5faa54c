/* The file is changed in place, one write a slot, and never rewritten as a whole: a crash tears at
 * most one slot, and its mac says so. A lock on the file keeps a second process out. */
#include "exchange/memory/consistency_file.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/crypto/crypto.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "TDKEEP01"
#define MAC_BYTES 8
#define READ_SLOTS 1024

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the file is little-endian"
#endif

struct header {
    char magic[8];
    uint8_t mac[MAC_BYTES];
    struct consistency_day day;
    uint8_t zeros[16];
};
_Static_assert(sizeof(struct header) == CONSISTENCY_SLOT_BYTES, "as in the file");
_Static_assert(sizeof(struct consistency_slot) + MAC_BYTES == CONSISTENCY_SLOT_BYTES,
               "as in the file");

static void make_mac(const uint8_t *key, uint64_t number, const void *data, size_t len,
                     uint8_t out[MAC_BYTES])
{
    uint8_t bytes[8 + CONSISTENCY_SLOT_BYTES], mac[KEYED_MAC_BYTES];
    memcpy(bytes, &number, 8);
    memcpy(bytes + 8, data, len);
    keyed_mac(key, bytes, 8 + len, mac);
    memcpy(out, mac, MAC_BYTES);
}

void consistency_slot_write(const uint8_t key[static KEYED_KEY_BYTES], uint64_t number,
                            const struct consistency_slot *slot,
                            uint8_t out[static CONSISTENCY_SLOT_BYTES])
{
    memset(out, 0, CONSISTENCY_SLOT_BYTES);
    if (slot->whose == 0)
        return;
    make_mac(key, number, slot, sizeof *slot, out);
    memcpy(out + MAC_BYTES, slot, sizeof *slot);
}

/* False: empty, torn or not ours. */
static bool read_slot(const uint8_t key[static KEYED_KEY_BYTES], uint64_t number,
                      const uint8_t bytes[static CONSISTENCY_SLOT_BYTES],
                      struct consistency_slot *out)
{
    uint8_t mac[MAC_BYTES];
    memcpy(out, bytes + MAC_BYTES, sizeof *out);
    bool good = out->whose != 0;
    if (good) {
        make_mac(key, number, out, sizeof *out, mac);
        good = crypto_equal(mac, bytes, MAC_BYTES);
    }
    if (!good)
        *out = (struct consistency_slot){0};
    return good;
}

static enum td_status write_at(int fd, const void *data, size_t len, off_t at, struct td_error *err)
{
    return file_write_at(fd, (struct td_str){data, len}, at)
               ? TD_OK
               : error_set(err, TD_IO, "what starts where could not be kept: %s", strerror(errno));
}

/* The header's day, its mac numbered as no slot is. */
enum td_status consistency_file_put_day(int fd, const uint8_t key[static KEYED_KEY_BYTES],
                                        const struct consistency_day *day, struct td_error *err)
{
    struct header header = {.day = *day};
    memcpy(header.magic, MAGIC, sizeof header.magic);
    make_mac(key, UINT64_MAX, day, sizeof *day, header.mac);
    return write_at(fd, &header, sizeof header, 0, err);
}

static off_t slot_at(uint64_t number)
{
    return (off_t)((number + 1) * CONSISTENCY_SLOT_BYTES);
}

enum td_status consistency_file_put(int fd, const uint8_t key[static KEYED_KEY_BYTES],
                                    uint32_t number, const struct consistency_slot *slot,
                                    struct td_error *err)
{
    uint8_t bytes[CONSISTENCY_SLOT_BYTES];
    consistency_slot_write(key, number, slot, bytes);
    return write_at(fd, bytes, sizeof bytes, slot_at(number), err);
}

static ssize_t read_at(int fd, void *out, size_t len, off_t at)
{
    size_t done = 0;
    while (done < len) {
        ssize_t count = pread(fd, (char *)out + done, len - done, at + (off_t)done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0)
            break;
        done += (size_t)count;
    }
    return (ssize_t)done;
}

/* *fresh: there is nothing of ours in it. */
static enum td_status read_header(int fd, const char *path, const uint8_t *key,
                                  struct consistency_day *day, bool *fresh, struct td_error *err)
{
    struct header header = {0};
    uint8_t mac[MAC_BYTES];
    ssize_t count = read_at(fd, &header, sizeof header, 0);
    if (count < 0)
        return error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    *fresh = true;
    if (count == 0)
        return TD_OK;
    if (count != sizeof header || memcmp(header.magic, MAGIC, sizeof header.magic) != 0)
        return error_set(err, TD_INVALID,
                         "%s: not a file of what starts where; move it away or name another "
                         "state_dir",
                         path);
    make_mac(key, UINT64_MAX, &header.day, sizeof header.day, mac);
    *fresh = !crypto_equal(mac, header.mac, MAC_BYTES);
    if (!*fresh)
        *day = header.day;
    return TD_OK;
}

static enum td_status read_slots(int fd, const char *path, const uint8_t *key,
                                 struct consistency_slot *slots, uint32_t slots_max, uint32_t *bad,
                                 struct td_error *err)
{
    static const uint8_t nothing[CONSISTENCY_SLOT_BYTES];
    uint8_t bytes[READ_SLOTS * CONSISTENCY_SLOT_BYTES];
    for (uint32_t first = 0; first < slots_max; first += READ_SLOTS) {
        uint32_t wanted = slots_max - first < READ_SLOTS ? slots_max - first : READ_SLOTS;
        ssize_t count = read_at(fd, bytes, (size_t)wanted * CONSISTENCY_SLOT_BYTES, slot_at(first));
        if (count < 0)
            return error_set(err, TD_IO, "%s: %s", path, strerror(errno));
        uint32_t whole = (uint32_t)count / CONSISTENCY_SLOT_BYTES;
        for (uint32_t i = 0; i < whole; i++) {
            const uint8_t *at = bytes + (size_t)i * CONSISTENCY_SLOT_BYTES;
            if (!read_slot(key, first + i, at, &slots[first + i]) &&
                memcmp(at, nothing, sizeof nothing) != 0)
                ++*bad;
        }
        if (whole < wanted)
            break;
    }
    return TD_OK;
}

enum td_status consistency_file_open(const char *path, const uint8_t key[static KEYED_KEY_BYTES],
                                     struct consistency_slot *slots, uint32_t slots_max,
                                     uint32_t *bad, struct consistency_day *day, int *fd_out,
                                     struct td_error *err)
{
    struct stat info;
    bool fresh = true;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    *bad = 0;
    *day = (struct consistency_day){0};
    if (fd < 0)
        return error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    enum td_status status = TD_OK;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        status = error_set(err, TD_BUSY, "%s: another process has it", path);
    else if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        status = error_set(err, TD_INVALID, "%s: not a regular file", path);
    if (status == TD_OK)
        status = read_header(fd, path, key, day, &fresh, err);
    if (status == TD_OK && !fresh)
        status = read_slots(fd, path, key, slots, slots_max, bad, err);
    off_t end = fresh ? 0 : slot_at(slots_max);
    if (status == TD_OK && (fresh || info.st_size > end) && ftruncate(fd, end) != 0)
        status = error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    if (status == TD_OK && fresh)
        status = consistency_file_put_day(fd, key, day, err);
    if (status == TD_OK)
        *fd_out = fd;
    else
        close(fd);
    return status;
}

enum td_status consistency_file_read(const char *path, const uint8_t key[static KEYED_KEY_BYTES],
                                     struct consistency_slot *slots, uint32_t slots_max,
                                     uint32_t *bad, struct consistency_day *day,
                                     struct td_error *err)
{
    bool fresh = true;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *bad = 0;
    *day = (struct consistency_day){0};
    if (fd < 0)
        return errno == ENOENT ? TD_OK : error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    enum td_status status = read_header(fd, path, key, day, &fresh, err);
    if (status == TD_OK && !fresh)
        status = read_slots(fd, path, key, slots, slots_max, bad, err);
    close(fd);
    return status;
}
