/* Any two texts as questions, parted by a zero byte. What is read of one does not depend on where
 * it lies, nor on white space before it, and a difference has two sides. */
#include "api/cache/question_marks.h"
#include "base/core/str.h"

#include <stdlib.h>
#include <string.h>

static bool read_copy(struct td_str text, const char *before, struct question_marks *out)
{
    size_t len = strlen(before);
    char *copy = malloc(len + text.len + 1);
    if (!copy)
        abort();
    memcpy(copy, before, len);
    if (text.len)
        memcpy(copy + len, text.data, text.len);
    bool read = question_marks_read(NULL, (struct td_str){copy, len + text.len}, out);
    free(copy);
    return read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str rest = {(const char *)data, size}, one;
    struct question_marks first, second, again;
    if (size == 0 || !str_next(&rest, '\0', &one))
        return 0;
    bool a = read_copy(one, "", &first), b = read_copy(rest, "", &second);
    if (read_copy(one, "", &again) != a || question_marks_differ(&first, &again) != MARK_COUNT)
        abort();
    if (one.len + 1 <= QUESTION_BYTES_MAX &&
        (read_copy(one, " ", &again) != a || question_marks_differ(&first, &again) != MARK_COUNT))
        abort();
    if (a && b && question_marks_differ(&first, &second) != question_marks_differ(&second, &first))
        abort();
    return 0;
}
