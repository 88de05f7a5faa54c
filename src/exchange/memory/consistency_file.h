/* The file of what consistency.h remembers: one header, then slots of 64 bytes.
 *
 * Slots are written in their place, so that what is erased is overwritten. Everything is under the
 * installation's key: without it no text, name or number in the file means anything. A slot that
 * somebody else wrote, or that was written in part, is not believed.
 *
 *   header                                slot
 *   0   8  magic "TDKEEP01"               0   8  mac: HMAC-SHA-256 of number and rest, 8 bytes
 *   8   8  mac of the rest                8   8  whose
 *   16  8  day (since 1970)               16  8  owner, for erasing
 *   24  8  micro-USD given up that day    24  16 sketch or conversation, masked
 *   32  8  10^-6 right answers given up   40  8  tier
 *   40  8  requests of that day           48  8  last seen (seconds since 1970)
 *   48  16 zeros                          56  8  how often
 *
 * Little-endian. Not thread-safe: consistency.c has a lock. */
#ifndef EXCHANGE_CONSISTENCY_FILE_H
#define EXCHANGE_CONSISTENCY_FILE_H

#include "base/crypto/keyed.h"

#define CONSISTENCY_SLOT_BYTES 64

struct consistency_slot {
    uint64_t whose; /* 0 = empty */
    uint64_t owner; /* 0 = nobody's by name */
    uint64_t bits[2];
    uint64_t tier;
    uint64_t seen_s;
    uint64_t count;
};

struct consistency_day {
    uint64_t day, micro_usd, micro_gain, requests;
};

/* A slot with its mac; an empty one is zeros. */
void consistency_slot_write(const uint8_t key[static KEYED_KEY_BYTES], uint64_t number,
                            const struct consistency_slot *slot,
                            uint8_t out[static CONSISTENCY_SLOT_BYTES]);

/* Opens or creates it (0600) for this process alone and reads at most slots_max slots, empty ones
 * too; what lies beyond is cut off. A file under another key is replaced by an empty one. *bad:
 * slots that were not believed. *fd_out: to be closed. TD_BUSY: another process has it. TD_INVALID:
 * it is something else. */
TD_MUST_CHECK enum td_status
consistency_file_open(const char *path, const uint8_t key[static KEYED_KEY_BYTES],
                      struct consistency_slot *slots, uint32_t slots_max, uint32_t *bad,
                      struct consistency_day *day, int *fd_out, struct td_error *err);
/* Reads the same, whoever has it, and changes nothing. A slot that is being written is not
 * believed. TD_OK also when there is no file. */
TD_MUST_CHECK enum td_status
consistency_file_read(const char *path, const uint8_t key[static KEYED_KEY_BYTES],
                      struct consistency_slot *slots, uint32_t slots_max, uint32_t *bad,
                      struct consistency_day *day, struct td_error *err);
TD_MUST_CHECK enum td_status consistency_file_put(int fd, const uint8_t key[static KEYED_KEY_BYTES],
                                                  uint32_t number,
                                                  const struct consistency_slot *slot,
                                                  struct td_error *err);
TD_MUST_CHECK enum td_status consistency_file_put_day(int fd,
                                                      const uint8_t key[static KEYED_KEY_BYTES],
                                                      const struct consistency_day *day,
                                                      struct td_error *err);

#endif
