/* What the reader accepts, the writer writes, and the reader reads again to the same text. What the
 * fast reader takes, the library reads to the same tree; where it has an integer of more than 64
 * bits, the library takes it with all integers as doubles. */
#include "base/json/json.h"
#include "base/json/json_fast.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare_readers(struct td_str text, bool reject_duplicates)
{
    size_t flags = JSON_DECODE_ANY | (reject_duplicates ? JSON_REJECT_DUPLICATES : 0);
    struct json *fast = json_fast_read(text, 64, reject_duplicates);
    if (!fast)
        return;
    json_t *slow = json_loadb(text.data, text.len, flags, NULL);
    if (!slow) {
        slow = json_loadb(text.data, text.len, flags | JSON_DECODE_INT_AS_REAL, NULL);
        assert(slow);
        json_free(fast);
        json_decref(slow);
        return;
    }
    char *of_fast = json_dumps((json_t *)(void *)fast, JSON_ENCODE_ANY);
    char *of_slow = json_dumps(slow, JSON_ENCODE_ANY);
    assert(of_fast && of_slow && strcmp(of_fast, of_slow) == 0);
    free(of_fast);
    free(of_slow);
    json_free(fast);
    json_decref(slow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *value, *again;
    compare_readers((struct td_str){(const char *)data, size}, true);
    compare_readers((struct td_str){(const char *)data, size}, false);
    if (json_parse((struct td_str){(const char *)data, size}, &value, NULL) != TD_OK)
        return 0;
    struct buf first, second;
    buf_init(&first, 1 << 22);
    buf_init(&second, 1 << 22);
    json_write(value, &first);
    assert(!first.failed);
    assert(json_parse(buf_view(&first), &again, NULL) == TD_OK);
    json_write(again, &second);
    assert(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    buf_deinit(&first);
    buf_deinit(&second);
    json_free(value);
    json_free(again);
    return 0;
}
