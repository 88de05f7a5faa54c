/* Keys and values of some positions of a sequence as bytes, in a file or in memory. Nothing in the
 * bytes is believed: every length is checked, and the checksum, before the sequence changes.
 *
 * Little-endian:
 *    0  char  magic[8]        "TANDEMKV"
 *    8  u32   version         1
 *   12  u32   cache type      enum td_kv_type
 *   16  char  fingerprint[16] of the model
 *   32  u32   layers
 *   36  u32   kv heads
 *   40  u32   head size
 *   44  u32   first position
 *   48  u32   positions
 *   52  u32   long rope       1: keys are turned by the angles of long contexts
 *   56  u64   bytes           of what follows the header
 *   64  u64   weights         hash of some bytes of every tensor: models of one shape and
 *                             vocabulary have the same fingerprint
 *   72  u64   checksum        FNV-1a over the header before it and what follows it
 *   80  i32   ids[positions]
 *       then for each page that the positions touch, layer, kv head: of the page's positions in
 *       question the key elements [head size, positions] and their scales [blocks, positions], the
 *       value rows [positions, columns] and their scales [blocks, positions] (kernels/kv_page.h;
 *       scales with Q8_0 only); after the last head f32 [positions, heads_kept_width] of a probe */
#ifndef ENGINE_SESSION_FILE_H
#define ENGINE_SESSION_FILE_H

#include "engine/forward/sequence.h"

#define SESSION_FILE_HEADER_BYTES 80

/* Bytes that `count` positions of a sequence of this model and pool take. */
uint64_t session_file_bytes(const struct sequence *sequence, uint32_t count);

/* Writes them to `out` [session_file_bytes]. The positions must be in the cache. */
void session_file_write(const struct sequence *sequence, uint32_t begin, uint32_t count,
                        uint8_t *out);

/* Checks the header alone and tells how many bytes there have to be. The positions belong behind
 * those that the sequence holds. TD_CORRUPT, TD_UNSUPPORTED (another version), TD_INVALID (another
 * model, cache or place), TD_LIMIT (they do not fit the context). */
TD_MUST_CHECK enum td_status session_file_check(const struct sequence *sequence,
                                                const uint8_t header[SESSION_FILE_HEADER_BYTES],
                                                uint64_t *bytes, struct td_error *err);
/* How many positions a header that was checked speaks of. */
uint32_t session_file_count(const uint8_t header[SESSION_FILE_HEADER_BYTES]);
/* Checks everything. */
TD_MUST_CHECK enum td_status session_file_verify(const struct sequence *sequence,
                                                 const uint8_t *data, size_t size,
                                                 struct td_error *err);
/* Puts verified positions behind those that the sequence holds. TD_BUSY. */
TD_MUST_CHECK enum td_status session_file_read(struct sequence *sequence, const uint8_t *data,
                                               struct td_error *err);

/* Makes length and checksum in the header fit what is there, for tests that damage the rest. */
void session_file_seal(uint8_t *data, size_t size);

#endif
