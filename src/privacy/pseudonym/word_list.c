#include "privacy/pseudonym/word_list.h"

#include "base/bytes/buf.h"
#include "base/core/assertion.h"
#include "privacy/text/spell.h"

#include <string.h>

#define KEY_BYTES_MAX 128 /* no list has a longer word */

bool word_list_has(const char *list, struct td_str word)
{
    struct buf key;
    ASSERT(list[0] == ' ');
    buf_init(&key, KEY_BYTES_MAX);
    buf_append_char(&key, ' ');
    spell_fold(word, &key);
    buf_append_char(&key, ' ');
    bool found = !key.failed && key.len > 2 && strstr(list, key.data) != NULL;
    buf_deinit(&key);
    return found;
}
