/* The packed help of all keys and verbs. */
#include "app/config/packed_help.h"

#include "base/bytes/packed.h"

#include "app/help_texts.h" /* generated */

const char *packed_help(uint16_t number)
{
    if (number == 0)
        return "";
    size_t at = number - 1u; /* of its file, and in it */
    return packed_string(&help_packed, help_begins[at / HELPS_MAX] + at % HELPS_MAX);
}

const char *packed_help_read(const char *text)
{
    uintptr_t at = (uintptr_t)text;
    return at <= UINT16_MAX ? packed_help((uint16_t)at) : text;
}
