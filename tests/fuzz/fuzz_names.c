/* A names file and a text. Input: the first byte's low bit says what is hostile. 0: the rest is a
 * text, tagged with the weights that its first bytes make up; 1: the rest is a file, and when it is
 * taken a text is tagged with it. Findings must be in order and inside the text. */
#include "base/crypto/hash.h"
#include "privacy/names/tagger.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 256
#define ROWS 256
#define MADE_BYTES (TAGGER_HEADER_BYTES + GAP_COUNT * 64 + SLOTS * 4 + ROWS * 8)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(unsigned char *file, size_t len)
{
    if (len < TAGGER_HEADER_BYTES)
        return;
    uint64_t hash = hash_words64(file + TAGGER_HEADER_BYTES, len - TAGGER_HEADER_BYTES);
    memcpy(file + 40, &hash, 8);
}

static void make_weights(unsigned char *file, const uint8_t *data, size_t size)
{
    const uint32_t head[] = {TAGGER_VERSION, SLOTS, ROWS};
    const float scales[] = {0.05f, 0.05f, 1, 0}, costs[] = {1, 1, 1.5f, 1};
    memset(file, 0, MADE_BYTES);
    memcpy(file, TAGGER_MAGIC, 8);
    memcpy(file + 8, head, sizeof head);
    memcpy(file + 20, scales, sizeof scales);
    memcpy(file + 48, costs, sizeof costs);
    uint64_t seed = hash_fnv1a64(data, size < 16 ? size : 16, HASH_FNV1A64_BASIS);
    for (size_t i = TAGGER_HEADER_BYTES; i + 8 <= MADE_BYTES; i += 8) {
        uint64_t word = hash_mix64(seed += 0x9e3779b97f4a7c15u);
        memcpy(file + i, &word, 8);
    }
    seal(file, MADE_BYTES);
}

static void tag(const struct tagger *tagger, struct td_str text)
{
    static struct tagger_cursor cursor;
    struct tagger_span span;
    size_t end = 0;
    tagger_begin(&cursor, tagger, text, 0.3f);
    while (tagger_next(&cursor, &span)) {
        if (span.begin < end || span.end <= span.begin || span.end > text.len ||
            !(span.score >= 0.3f && span.score <= 1) || (unsigned)span.type >= TAGGER_TYPE_COUNT)
            abort();
        end = span.end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tagger *tagger = NULL;
    struct td_error err = {0};
    if (size < 1)
        return 0;
    bool hostile_file = data[0] & 1;
    size_t len = hostile_file ? size - 1 : MADE_BYTES;
    unsigned char *file = malloc(len ? len : 1);
    if (file == NULL)
        return 0;
    if (hostile_file) {
        memcpy(file, data + 1, len);
        if (data[0] & 2)
            seal(file, len);
    } else {
        make_weights(file, data + 1, size - 1);
    }
    enum td_status status = tagger_open_memory(file, len, "fuzz", &tagger, &err);
    if (status == TD_OK)
        tag(tagger, (struct td_str){(const char *)data + 1, size - 1});
    else if (!hostile_file || err.message[0] == '\0')
        abort();
    tagger_close(tagger);
    free(file);
    return 0;
}
