#include "privacy/pseudonym/vault_map.h"

#include "base/core/assertion.h"
#include "base/crypto/crypto.h"

#include <stdlib.h>

static size_t place_of(const struct vault_map *map, uint64_t key)
{
    size_t i = (size_t)key & (map->capacity - 1);
    while (map->keys[i] != 0 && map->keys[i] != key)
        i = (i + 1) & (map->capacity - 1);
    return i;
}

uint32_t vault_map_get(const struct vault_map *map, uint64_t key)
{
    ASSERT(key != 0);
    if (map->capacity == 0)
        return VAULT_NONE;
    size_t i = place_of(map, key);
    return map->keys[i] == key ? map->values[i] : VAULT_NONE;
}

void vault_map_deinit(struct vault_map *map)
{
    if (map->keys)
        crypto_wipe(map->keys, map->capacity * sizeof *map->keys);
    free(map->keys);
    free(map->values);
    *map = (struct vault_map){0};
}

static bool grow(struct vault_map *map)
{
    struct vault_map larger = {.capacity = map->capacity ? 2 * map->capacity : 64};
    larger.keys = calloc(larger.capacity, sizeof *larger.keys);
    larger.values = calloc(larger.capacity, sizeof *larger.values);
    if (larger.keys == NULL || larger.values == NULL) {
        free(larger.keys);
        free(larger.values);
        return false;
    }
    larger.count = map->count;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->keys[i] == 0)
            continue;
        size_t to = place_of(&larger, map->keys[i]);
        larger.keys[to] = map->keys[i];
        larger.values[to] = map->values[i];
    }
    vault_map_deinit(map);
    *map = larger;
    return true;
}

bool vault_map_put(struct vault_map *map, uint64_t key, uint32_t value)
{
    ASSERT(key != 0);
    if (2 * (map->count + 1) > map->capacity && !grow(map))
        return false;
    size_t i = place_of(map, key);
    map->count += map->keys[i] == 0;
    map->keys[i] = key;
    map->values[i] = value;
    return true;
}
