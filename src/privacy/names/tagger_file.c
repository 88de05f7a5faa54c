/* Opening a names file: every number in its header is checked before anything is read through it,
 * and a hash covers the rest. Afterwards the tagger can trust all offsets. */
#include "privacy/names/tagger_file.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/crypto/hash.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS_MAX (1u << 18)
#define ROWS_MAX (1u << 20)
#define TRANSITION_BYTES ((size_t)GAP_COUNT * LABEL_COUNT * LABEL_COUNT)

static uint32_t read_u32(const unsigned char *data, size_t offset)
{
    uint32_t value;
    memcpy(&value, data + offset, sizeof value);
    return value;
}

static float read_float(const unsigned char *data, size_t offset)
{
    float value;
    memcpy(&value, data + offset, sizeof value);
    return value;
}

static bool is_size(uint32_t count, uint32_t max)
{
    return count >= 256 && count <= max && (count & (count - 1)) == 0;
}

static bool is_step(float step)
{
    return isfinite(step) && step > 0 && step < 16;
}

static enum td_status read_numbers(const unsigned char *data, const char *label,
                                   struct tagger_file *file, struct td_error *err)
{
    file->step = read_float(data, 20);
    file->transition_step = read_float(data, 24);
    file->calibration_a = read_float(data, 28);
    file->calibration_b = read_float(data, 32);
    bool costs = true;
    file->label_costs[LABEL_O] = 1;
    for (size_t l = LABEL_B_PERSON; l < LABEL_COUNT; l++) {
        file->label_costs[l] = read_float(data, 48 + 4 * ((l - 1) / 2)); /* a type has two labels */
        costs = costs && file->label_costs[l] > 1.0f / 16 && file->label_costs[l] < 16;
    }
    if (!is_step(file->step) || !is_step(file->transition_step) || !isfinite(file->calibration_a) ||
        !isfinite(file->calibration_b) || !(file->calibration_a > 0) || file->calibration_a > 100 ||
        fabsf(file->calibration_b) > 100 || !costs)
        return error_set(
            err, TD_CORRUPT,
            "names file %s: its scales (bytes 20 to 36, 48 to 64) are not usable numbers; "
            "replace the file",
            label);
    return TD_OK;
}

enum td_status tagger_file_read(const void *data, size_t len, const char *label,
                                struct tagger_file *file, struct td_error *err)
{
    const unsigned char *bytes = data;
    *file = (struct tagger_file){0};
    if (len < TAGGER_HEADER_BYTES || memcmp(bytes, TAGGER_MAGIC, 8) != 0)
        return error_set(err, TD_CORRUPT, "%s is not a names file (%zu bytes)", label, len);
    uint32_t version = read_u32(bytes, 8);
    if (version != TAGGER_VERSION)
        return error_set(err, TD_UNSUPPORTED,
                         "names file %s has version %u, this program reads version %d; use the "
                         "file that came with the program",
                         label, version, TAGGER_VERSION);
    uint32_t slots = read_u32(bytes, 12), rows = read_u32(bytes, 16);
    if (!is_size(slots, SLOTS_MAX) || !is_size(rows, ROWS_MAX))
        return error_set(err, TD_CORRUPT,
                         "names file %s: %u slots and %u rows are not powers of two in range; "
                         "replace the file",
                         label, slots, rows);
    size_t wanted = TAGGER_HEADER_BYTES + TRANSITION_BYTES + (size_t)slots * 4 +
                    (size_t)rows * LABEL_COUNT; /* below 10 MB: cannot overflow */
    if (len != wanted)
        return error_set(err, TD_CORRUPT,
                         "names file %s has %zu bytes where its header says %zu; it was cut, "
                         "replace it",
                         label, len, wanted);
    uint64_t hash;
    memcpy(&hash, bytes + 40, sizeof hash);
    if (hash != hash_words64(bytes + TAGGER_HEADER_BYTES, len - TAGGER_HEADER_BYTES))
        return error_set(err, TD_CORRUPT,
                         "names file %s: its contents do not have the hash that its header "
                         "says; replace it",
                         label);
    enum td_status status = read_numbers(bytes, label, file, err);
    if (status != TD_OK)
        return status;
    const unsigned char *lexicon = bytes + TAGGER_HEADER_BYTES + TRANSITION_BYTES;
    file->transitions = (const int8_t *)(bytes + TAGGER_HEADER_BYTES);
    file->lexicon = (const void *)lexicon;
    file->lexicon_mask = slots - 1;
    file->weights = (const int8_t *)(lexicon + (size_t)slots * 4);
    file->row_shift = 32 - (uint32_t)__builtin_ctz(rows);
    return TD_OK;
}

enum td_status tagger_file_open(const char *path, struct tagger_file *file, struct td_error *err)
{
    *file = (struct tagger_file){0};
    int fd;
    uint64_t len;
    enum td_status status = file_open_regular(path, 0, &fd, &len, err);
    if (status != TD_OK)
        return error_prefix(err, "names file"), status;
    if (len == 0 || len > INT32_MAX)
        status = error_set(err, TD_CORRUPT, "%s is not a names file", path);
    if (status == TD_OK) {
        void *mapping = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
        if (mapping == MAP_FAILED) {
            status = error_set(err, TD_IO, "cannot map names file %s: %s", path, strerror(errno));
        } else {
            status = tagger_file_read(mapping, len, path, file, err);
            file->mapping = mapping;
            file->mapping_bytes = len;
            if (status != TD_OK)
                tagger_file_close(file);
            else /* the check has read all of it, a scan reads little: that comes back when used */
                (void)madvise(mapping, len, MADV_DONTNEED);
        }
    }
    close(fd);
    return status;
}

void tagger_file_close(struct tagger_file *file)
{
    if (file->mapping != NULL)
        munmap(file->mapping, file->mapping_bytes);
    *file = (struct tagger_file){0};
}
