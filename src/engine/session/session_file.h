/* Keys and values of some positions of a sequence as bytes, in a file or in memory. The bytes are
 * not trusted: every length and the checksum are checked before the sequence changes. No state; the
 * thread of the sequence.
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
 *   52  u32   flags           1: keys are rotated by the angles of long contexts
 *                             2: the state of recurrent layers is at the end; without it these
 *                                read the text again
 *   56  u64   bytes           of what follows the header
 *   64  u64   weights         hash of some bytes of every tensor: models of one shape and
 *                             vocabulary have the same fingerprint
 *   72  u64   checksum        FNV-1a over the header before it and what follows it
 *   80  i32   ids[positions]
 *       then for each page with such positions, each layer and each kv head, of those positions:
 *         key elements [head size, positions], their scales [blocks, positions],
 *         value rows [positions, columns], their scales [blocks, positions]
 *       (kernels/kv_page.h; only Q8_0 has scales); after the last head of the page the probe's
 *       f32 [positions, heads_kept_width]; at the end the state (ssm.h), with zeroes up to 4096 */
#ifndef ENGINE_SESSION_FILE_H
#define ENGINE_SESSION_FILE_H

#include "engine/forward/sequence.h"

#define SESSION_FILE_HEADER_BYTES 80

/* How many bytes `count` positions from `begin` on take. */
uint64_t session_file_bytes(const struct sequence *sequence, uint32_t begin, uint32_t count);

/* Writes `count` positions from `begin` on, which must be cached, to `out` [session_file_bytes]. */
void session_file_write(const struct sequence *sequence, uint32_t begin, uint32_t count,
                        uint8_t *out);

/* Checks the header and gives the number of bytes that there must be. The positions must begin
 * where the sequence ends. TD_CORRUPT, TD_UNSUPPORTED (another version), TD_INVALID (another model,
 * cache or place), TD_LIMIT (they do not fit the context). */
TD_MUST_CHECK enum td_status session_file_check(const struct sequence *sequence,
                                                const uint8_t header[SESSION_FILE_HEADER_BYTES],
                                                uint64_t *bytes, struct td_error *err);
/* The number of positions in a checked header. */
uint32_t session_file_count(const uint8_t header[SESSION_FILE_HEADER_BYTES]);
/* Checks header, size, checksum and ids. */
TD_MUST_CHECK enum td_status session_file_verify(const struct sequence *sequence,
                                                 const uint8_t *data, size_t size,
                                                 struct td_error *err);
/* Appends verified positions to the sequence. TD_BUSY when the pool has no page. */
TD_MUST_CHECK enum td_status session_file_read(struct sequence *sequence, const uint8_t *data,
                                               struct td_error *err);

/* Sets length and checksum in the header. Tests that damage the rest use it too. */
void session_file_seal(uint8_t *data, size_t size);

#endif
