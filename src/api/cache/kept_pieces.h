/* The pieces of an answer as bytes, as they are kept. One loop's thread. */
#ifndef API_KEPT_PIECES_H
#define API_KEPT_PIECES_H

#include "base/bytes/buf.h"
#include "tier/tier.h"

/* Writes an answer's pieces one after the other. */
struct piece_writer {
    struct buf *out;
    size_t open_at; /* the text of the last piece, where the next may go on; 0 = it may not */
    bool unfit;     /* something came that cannot be kept */
    size_t visible; /* pieces with something to see */
};

void piece_writer_add(struct piece_writer *writer, const struct tier_piece *piece);

/* Reads them. Starts as {.from = ...}. */
struct piece_reader {
    struct td_str from;
    size_t at;
    struct json *raw; /* of the last piece; the reader's */
};

/* *out **borrows** from the bytes, and until the next call from the reader. False at the end, and
 * where the bytes are not those of a writer (reader->at is then before the end). */
bool piece_reader_next(struct piece_reader *reader, struct tier_piece *out);
void piece_reader_deinit(struct piece_reader *reader);

#endif
