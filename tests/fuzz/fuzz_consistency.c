/* The file of remembered starts: whatever its bytes, it is refused, or what is believed of it is
 * found, changed, erased and read again without touching what is not there. Every second slot gets
 * its mac, so that what stands behind it is reached. */
#include "exchange/memory/consistency.h"
#include "exchange/memory/consistency_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_wall(void *ctx)
{
    (void)ctx;
    return UINT64_C(1800000000000);
}

static const struct clock fixed_clock = {.wall_ms = read_wall};
static const uint8_t key[KEYED_KEY_BYTES] = {1};

static void use(struct consistency *consistency, const uint8_t *data, size_t size)
{
    struct consistency_person person = {.whose = 1};
    uint64_t bits[2] = {0}, tier = 0, erased;
    if (size >= sizeof person)
        memcpy(&person, data, sizeof person);
    if (size >= sizeof bits)
        memcpy(bits, data + size - sizeof bits, sizeof bits);
    person.whose += person.whose == 0;
    consistency_find(consistency, &person, bits, 128, &tier);
    const struct td_request request = {.user = "user"};
    consistency_put(consistency, &person, bits, 40, &request, 7);
    /* It may stand for one that was there and is nearly the same; all that are near have the
     * tier. */
    if (!consistency_find(consistency, &person, bits, 40, &tier) || tier != 7)
        abort();
    if (consistency_forget(consistency, NULL, "user", &erased, NULL) != TD_OK || erased == 0)
        abort();
    struct consistency_numbers numbers;
    consistency_numbers(consistency, &numbers);
    if (numbers.entries > SLOTS)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/fuzz_consistency_%d", (int)getpid());
    unlink(path);
    struct consistency_options options = {
        .path = path, .entries_max = SLOTS, .ttl_s = 1000000000, .clock = &fixed_clock};
    memcpy(options.key, key, sizeof key);
    struct consistency *consistency = NULL;
    struct td_error err = {0};
    FILE *file = fopen(path, "wb");
    if (!file)
        return 0;
    bool whole = size > 0 && data[0] & 1; /* a header of ours, and then these slots */
    if (whole) {
        fclose(file);
        unlink(path);
        if (consistency_open(&options, &consistency, &err) != TD_OK)
            abort();
        consistency_close(consistency);
        file = fopen(path, "ab");
    }
    uint8_t slot[CONSISTENCY_SLOT_BYTES];
    for (size_t at = whole, number = 0; file && at < size; number++) {
        size_t len = size - at < sizeof slot ? size - at : sizeof slot;
        memcpy(slot, data + at, len);
        if (whole && len == sizeof slot && number % 2 == 0) {
            struct consistency_slot inside;
            memcpy(&inside, slot + 8, sizeof inside);
            inside.whose = inside.whose % 3; /* so that several are one person's */
            consistency_slot_write(key, number, &inside, slot);
        }
        fwrite(slot, 1, len, file);
        at += len;
    }
    if (file)
        fclose(file);
    consistency = NULL;
    err = (struct td_error){0};
    enum td_status status = consistency_open(&options, &consistency, &err);
    if ((status == TD_OK) != (consistency != NULL) || (status != TD_OK && !*err.message))
        abort();
    if (consistency)
        use(consistency, data, size);
    consistency_close(consistency);
    unlink(path);
    return 0;
}
