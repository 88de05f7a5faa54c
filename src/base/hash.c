#include "base/hash.h"

uint64_t hash_fnv1a64(const void *data, size_t len, uint64_t basis)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < len; i++)
        basis = (basis ^ bytes[i]) * UINT64_C(0x100000001b3);
    return basis;
}

uint64_t hash_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
