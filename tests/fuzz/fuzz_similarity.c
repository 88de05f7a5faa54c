/* A table of similar words: any bytes are refused with words, or make a sketch of any text without
 * touching what is not theirs. The hash is put right, so that what stands behind it is reached;
 * what is missing at the end is rows of zeros. */
#include "base/crypto/hash.h"
#include "router/judge/similarity.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 64
#define GROWN_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t whole_size(const uint8_t *data, size_t size)
{
    uint32_t words, slots;
    if (size < HEADER_BYTES)
        return size;
    memcpy(&words, data + 24, sizeof words);
    memcpy(&slots, data + 28, sizeof slots);
    uint64_t whole = HEADER_BYTES + (uint64_t)slots * 8 + (uint64_t)words * SIMILARITY_BITS;
    return whole > size && whole <= GROWN_MAX ? (size_t)whole : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t bytes = whole_size(data, size);
    char *file = calloc(1, bytes + 1);
    if (!file)
        return 0;
    memcpy(file, data, size);
    if (bytes >= HEADER_BYTES) {
        uint64_t hash = hash_words64(file + 24, bytes - 24);
        memcpy(file + 16, &hash, sizeof hash);
    }
    struct similarity *table = NULL;
    struct td_error err = {0};
    enum td_status status = similarity_read((struct td_str){file, bytes}, &table, &err);
    if ((status == TD_OK) != (table != NULL) || (status != TD_OK && !*err.message))
        abort();
    struct utterance utterance;
    struct sketch sketch, again;
    utterance_read_text((struct td_str){(const char *)data, size}, &utterance);
    similarity_sketch(table ? table : &similarity_plain, &utterance, &sketch);
    similarity_sketch(table ? table : &similarity_plain, &utterance, &again);
    if (similarity_distance(sketch.bits, again.bits) != 0 || sketch.known != again.known)
        abort();
    similarity_close(table);
    free(file);
    return 0;
}
