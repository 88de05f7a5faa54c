/* Private keys in PEM armour (RFC 7468, OpenSSH, PGP): from the begin mark to the end mark's line,
 * or to the end of the text when the end mark is missing, because half a key is still secret. */
#include "privacy/detect/detect.h"

#include "base/str.h"

#define LABEL_BYTES_MAX 64 /* "BEGIN ENCRYPTED PRIVATE KEY" and the like are below 40 */

bool detect_private_key(const struct place *place, struct privacy_span *out)
{
    struct td_str text = place->text, begin_mark = STR("-----BEGIN ");
    if (!str_starts_with(str_slice(text, place->begin, text.len), begin_mark))
        return false;
    size_t label = place->begin + begin_mark.len;
    struct td_str head = str_slice(text, label, label + LABEL_BYTES_MAX);
    size_t label_len = str_find(head, STR("-----"), 0);
    head = str_slice(head, 0, label_len == SIZE_MAX ? head.len : label_len);
    if (str_find(head, STR("PRIVATE KEY"), 0) == SIZE_MAX)
        return false;
    size_t end = text.len, end_mark = label;
    while ((end_mark = str_find(text, STR("-----END "), end_mark)) != SIZE_MAX) {
        struct td_str tail = str_slice(text, end_mark + 9, end_mark + 9 + LABEL_BYTES_MAX);
        size_t close = str_find(tail, STR("-----"), 0);
        if (str_find(str_slice(tail, 0, close), STR("PRIVATE KEY"), 0) != SIZE_MAX) {
            end = end_mark + 9 + (close == SIZE_MAX ? tail.len : close + 5);
            break;
        }
        end_mark += 9;
    }
    *out = span_of(PRIVACY_PRIVATE_KEY, place->begin, end, 1.0f);
    return true;
}
