/* A hash map from 64-bit hashes to numbers, for the vault. Its keys are hashes of private values,
 * and whoever has them can try values out, so the map wipes its memory. Zero-initialised is empty.
 * Open addressing, at most half full. One owner. */
#ifndef PRIVACY_VAULT_MAP_H
#define PRIVACY_VAULT_MAP_H

#include "tandem/types.h"

#define VAULT_NONE UINT32_MAX

struct vault_map {
    uint64_t *keys; /* 0 = free */
    uint32_t *values;
    size_t capacity, count;
};

void vault_map_deinit(struct vault_map *map);
/* key is not 0. VAULT_NONE when the key is not in the map. */
uint32_t vault_map_get(const struct vault_map *map, uint64_t key);
/* Replaces the key's value if it has one. False without memory. */
TD_MUST_CHECK bool vault_map_put(struct vault_map *map, uint64_t key, uint32_t value);

#endif
