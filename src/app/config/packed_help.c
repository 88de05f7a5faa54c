/* The packed help of all keys. */
#include "app/config/keys.h"
#include "base/packed.h"

#include "app/keys_help.h" /* generated */

const char *keys_help(const struct config_key *key)
{
    if (key->help == 0)
        return "";
    size_t number = key->help - 1u; /* of its file, and in it */
    return packed_string(&help_packed, help_begins[number / HELPS_MAX] + number % HELPS_MAX);
}
