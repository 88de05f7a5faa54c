/* A file that is not complete yet: PATH.part holds its bytes at their places, and PATH.part.json
 * says which file they belong to and which pieces are complete. One owner, who holds a lock on the
 * file, so that two processes never write the same one. */
#ifndef NET_DOWNLOAD_PART_H
#define NET_DOWNLOAD_PART_H

#include "net/download/download_headers.h"

struct download_part {
    char *path, *state_path; /* PATH.part, PATH.part.json */
    int fd;
    uint64_t total; /* bytes of the file; UINT64_MAX = unknown */
    /* Bytes that may be written while the total is unknown: of so many free ones, or (0) by the
     * configuration. */
    uint64_t room, room_of;
    uint64_t piece_bytes;
    uint32_t piece_count;
    uint64_t *done; /* [piece_count] bytes present of each piece, from its front */
    const char *url;
    char validator[DOWNLOAD_TAG_BYTES];
};

/* Opens the file `part_path` (with `create`, makes it if needed) and locks it until *fd is closed,
 * so that no other process touches it while it is checked and renamed. TD_BUSY when another process
 * has it; *fd is -1 after a failure. */
TD_MUST_CHECK enum td_status download_part_lock(const char *part_path, bool create, int *fd,
                                                struct td_error *err);

/* Opens or makes `path`.part and locks it. TD_BUSY when another process has it. Call
 * download_part_close in any case. */
TD_MUST_CHECK enum td_status download_part_open(struct download_part *part, const char *path,
                                                struct td_error *err);
/* Removes the file when it is empty, or can never be continued. A process removes or renames a part
 * only while it holds the lock. */
void download_part_close(struct download_part *part);

/* Continues the existing bytes when they belong to the same URL (borrowed until close), size and
 * validator; otherwise begins again. *resumed: bytes that need not be fetched. With total
 * UINT64_MAX there is one piece, and nothing is continued. */
TD_MUST_CHECK enum td_status download_part_plan(struct download_part *part, const char *url,
                                                uint64_t total, const char *validator,
                                                uint64_t *resumed, struct td_error *err);

/* TD_LIMIT, with the numbers, when the file is larger than bytes_max (0 = no limit) or the file
 * system has no room for the missing bytes. Without a total, writing stops with it there. */
TD_MUST_CHECK enum td_status download_part_check_space(struct download_part *part,
                                                       uint64_t bytes_max, struct td_error *err);

uint64_t download_part_piece_bytes(const struct download_part *part, uint32_t piece);
uint64_t download_part_done_bytes(const struct download_part *part);

/* Appends to the bytes of a piece. TD_IO (also for a full disk); TD_CORRUPT beyond the end of the
 * piece. */
TD_MUST_CHECK enum td_status download_part_write(struct download_part *part, uint32_t piece,
                                                 const void *data, size_t len,
                                                 struct td_error *err);

/* Writes the bytes to the disk first, then the state that counts them. */
TD_MUST_CHECK enum td_status download_part_save(struct download_part *part, struct td_error *err);
/* Clears everything except the open file. */
TD_MUST_CHECK enum td_status download_part_clear(struct download_part *part, struct td_error *err);

/* Reads `text` as the state of a part into *part, whose url, total and validator are set. False
 * when it is damaged or belongs to another file. For download_part_plan and the fuzzer. */
bool download_part_read_state(struct download_part *part, struct td_str text);

#endif
