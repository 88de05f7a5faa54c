/* Hashes for tables and for noticing changes. Values of both functions are stored in files
 * (checksums of sessions, classifiers and similarity tables), so neither may change. hash_words64
 * exists for whole files of megabytes, where a byte at a time is too slow. */
#include "base/crypto/hash.h"

#include <string.h>

uint64_t hash_fnv1a64(const void *data, size_t len, uint64_t basis)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < len; i++)
        basis = hash_fnv1a64_byte(basis, bytes[i]);
    return basis;
}

uint64_t hash_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

double hash_draw(const char *id, const char *purpose)
{
    uint64_t basis = hash_fnv1a64(purpose, strlen(purpose), HASH_FNV1A64_BASIS);
    uint64_t bits = hash_mix64(hash_fnv1a64(id, strlen(id), basis));
    return (double)(bits >> 11) * 0x1p-53;
}

uint64_t hash_words64(const void *data, size_t len)
{
    const unsigned char *bytes = data;
    uint64_t state = HASH_FNV1A64_BASIS ^ len, word;
    size_t at = 0;
    for (; len - at >= sizeof word; at += sizeof word) {
        memcpy(&word, bytes + at, sizeof word);
        state = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio, odd */
        state = state << 29 | state >> 35;
    }
    word = 0;
    for (unsigned i = 0; at + i < len; i++)
        word |= (uint64_t)bytes[at + i] << (8 * i);
    return hash_mix64(state ^ word);
}
