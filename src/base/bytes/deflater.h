/* Short texts that have many words in common, compressed with these words as a dictionary: what a
 * text repeats of them costs some bits. zlib is inside. The words belong to the format: what was
 * packed with some is unpacked with the same only. One thread at a time for each deflater. */
#ifndef BASE_DEFLATER_H
#define BASE_DEFLATER_H

#include "tandem/types.h"

struct deflater;

/* words: at most 8 KiB, the commonest last. They are copied. **returns new** (deflater_free); NULL
 * without memory. */
struct deflater *deflater_new(struct td_str words);
void deflater_free(struct deflater *deflater); /* accepts NULL */

/* The most bytes that texts of together so many become. */
size_t deflater_bound(size_t len);
/* Packs two texts as one. out: [deflater_bound(of both)]. The length; 0 without memory. */
size_t deflater_pack(struct deflater *deflater, struct td_str first, struct td_str second,
                     void *out);
/* False where it is not exactly `len` bytes that were packed, or is damaged. */
TD_MUST_CHECK bool deflater_unpack(struct deflater *deflater, struct td_str packed, void *out,
                                   size_t len);

#endif
