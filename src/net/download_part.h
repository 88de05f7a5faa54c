/* A file that is not whole yet: PATH.part holds its bytes at their places, PATH.part.json says
 * whose they are and which pieces are there. One owner, who holds a lock on the file so that two
 * processes never write the same one. */
#ifndef NET_DOWNLOAD_PART_H
#define NET_DOWNLOAD_PART_H

#include "net/download_headers.h"

struct download_part {
    char *path, *state_path; /* PATH.part, PATH.part.json */
    int fd;
    uint64_t total; /* bytes of the file; UINT64_MAX = not known */
    uint64_t piece_bytes;
    uint32_t piece_count;
    uint64_t *done; /* [piece_count] bytes of each piece, from its front */
    const char *url;
    char validator[DOWNLOAD_TAG_BYTES];
};

/* Opens the file `part_path` (with `create`: or makes it) and locks it until *fd is closed: what is
 * checked and given its name is nobody else's meanwhile either. TD_BUSY when another process has it;
 * *fd is -1 after a failure. */
TD_MUST_CHECK enum td_status download_part_lock(const char *part_path, bool create, int *fd,
                                                struct td_error *err);

/* Opens or makes `path`.part and locks it. TD_BUSY when another process has it. part_close in any
 * case. */
TD_MUST_CHECK enum td_status download_part_open(struct download_part *part, const char *path,
                                                struct td_error *err);
/* Removes the file again when nothing is in it. Who removes or renames a part holds its lock, so
 * that nobody removes another's. */
void download_part_close(struct download_part *part);

/* Takes up what is there when it belongs to the same url (borrowed until close), size and
 * validator; otherwise begins anew. *resumed: bytes that need not be fetched again. total
 * UINT64_MAX: one piece, nothing to resume. */
TD_MUST_CHECK enum td_status download_part_plan(struct download_part *part, const char *url,
                                                uint64_t total, const char *validator,
                                                uint64_t *resumed, struct td_error *err);

/* TD_LIMIT with the arithmetic when the file system has no room for what is missing. */
TD_MUST_CHECK enum td_status download_part_check_space(const struct download_part *part,
                                                       struct td_error *err);

uint64_t download_part_piece_bytes(const struct download_part *part, uint32_t piece);
uint64_t download_part_done_bytes(const struct download_part *part);

/* Appends to what is there of a piece. TD_IO (a full disk among them), TD_CORRUPT beyond its
 * end. */
TD_MUST_CHECK enum td_status download_part_write(struct download_part *part, uint32_t piece,
                                                 const void *data, size_t len,
                                                 struct td_error *err);

/* Bytes first, then what says that they are there. */
TD_MUST_CHECK enum td_status download_part_save(struct download_part *part, struct td_error *err);
/* Forgets everything but the open file. */
TD_MUST_CHECK enum td_status download_part_clear(struct download_part *part, struct td_error *err);

/* Reads `text` as the state of a part into *part (url, total and validator given): false when it is
 * damaged or another file's. For download_part_plan and the fuzzer. */
bool download_part_read_state(struct download_part *part, struct td_str text);

#endif
