/* The long texts of a request, which a route may keep on the device: where they stand, and what is
 * left of the messages without them. Pure; borrows the request's texts. */
#ifndef EXCHANGE_DOCUMENTS_H
#define EXCHANGE_DOCUMENTS_H

#include "base/bytes/buf.h"
#include "request/request.h"

#define DOCUMENTS_MAX 16
/* As large as MinionS' chunks (Narayan et al. 2025, arXiv 2502.15964, appendix D). They are only
 * the unit in which a tier elsewhere says where to look. */
#define DOCUMENT_CHUNK_BYTES 3000

struct documents {
    struct td_str texts[DOCUMENTS_MAX];
    uint32_t chunks[DOCUMENTS_MAX]; /* of each; they are counted on from text to text */
    size_t count;
    uint64_t bytes, characters;
    uint32_t chunk_count;
    bool too_many; /* further ones are left out of the messages, and nobody reads them */
    bool asked;    /* the last message has words beside them */
};

/* Finds what stands between <document> and </document>, whatever its length, and every other text
 * of a message from `bytes_min` on. Of such a text a first paragraph that ends with a colon or a
 * question mark, and a last one that ends with a question mark, are the user's words and no part of
 * it. *left (empty) gets the messages' texts with a marker in the place of each document, one after
 * the other; ends[message_count] says where each ends. */
void documents_find(const struct td_request *request, size_t bytes_min, struct documents *out,
                    struct buf *left, size_t *ends);

#endif
