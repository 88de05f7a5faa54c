/* Reads over signs and tags. A comma in a list, a bar of a table and "</b><b>" all tell a reader
 * that the number goes on. */
#include "privacy/text/joint.h"

#include "privacy/text/plain.h"

#define BYTES_MAX 24
#define TAG_MAX 16

/* The offset after a tag such as "</td>" at the offset; the offset itself when none stands there.
 */
static size_t after_tag(struct td_str text, size_t offset)
{
    size_t end = offset + 1;
    if (text.data[offset] != '<' || end >= text.len ||
        (text.data[end] != '/' && !ascii_is_letter((unsigned char)text.data[end])))
        return offset;
    while (end < text.len && end - offset < TAG_MAX && text.data[end] != '>')
        end++;
    return end < text.len && text.data[end] == '>' ? end + 1 : offset;
}

size_t joint_end(struct td_str text, size_t offset)
{
    size_t at = offset;
    while (at < text.len && at - offset <= BYTES_MAX) {
        size_t tag = after_tag(text, at);
        if (tag > at) {
            at = tag;
            continue;
        }
        struct plain next = plain_at(text, at);
        if (is_word(next.c))
            return next.begin > offset ? next.begin : 0;
        at = next.end;
    }
    return 0;
}
