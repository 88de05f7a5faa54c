/* Non-cryptographic hashes. For anything an adversary may aim at use a seed; for proofs use
 * crypto.h. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_FNV1A64_BASIS UINT64_C(0xcbf29ce484222325)

/* FNV-1a, 64 bit (Fowler, Noll, Vo); chain by passing the previous value as basis. */
uint64_t hash_fnv1a64(const void *data, size_t len, uint64_t basis);
/* One byte more. */
static inline uint64_t hash_fnv1a64_byte(uint64_t hash, uint8_t byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}
/* Words of 8 bytes instead of bytes, for megabytes: seven times as fast. Each step is a bijection
 * of the state, turned so that no bit stays at its place. */
uint64_t hash_words64(const void *data, size_t len);
/* Finaliser of splitmix64: spreads a key's bits over the whole word. */
uint64_t hash_mix64(uint64_t x);

#endif
