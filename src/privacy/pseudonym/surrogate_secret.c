/* Surrogates for keys. What a reader may know of a key stays: the prefix of its issuer, the frame
 * of a PEM block. The secret part becomes random characters. */
#include "base/core/ascii.h"
#include "base/core/str.h"
#include "privacy/pseudonym/surrogate_writers.h"

#include <string.h>

/* The beginning of a key shows whose key it is. It stays, so that an answer can be about it. */
static size_t key_prefix(struct td_str value)
{
    static const char *const plain[] = {"AKIA", "ASIA", "AIza", "eyJ", "EAAC", NULL};
    size_t kept = 0;
    for (size_t i = 0; plain[i]; i++)
        if (str_starts_with(value, str_from(plain[i])))
            return strlen(plain[i]);
    for (size_t i = 0; i < value.len && i < 12; i++) {
        char c = value.data[i];
        if (c == '-' || c == '_')
            kept = i + 1;
        else if (!ascii_is_letter(c))
            break;
    }
    return value.len - kept >= 8 ? kept : 0;
}

bool surrogate_write_api_key(const struct surrogate_request *request, struct draw *draw,
                             struct buf *out)
{
    surrogate_write_shape_after(request->value, key_prefix(request->value), draw, out);
    return true;
}

/* Is the line nothing but the frame of a PEM block? Then all of it may be shown. */
static bool is_frame(struct td_str line, struct td_str begin)
{
    if (line.len < begin.len + 5 || !str_starts_with(line, begin) ||
        !str_equal(str_slice(line, line.len - 5, line.len), STR("-----")))
        return false;
    for (size_t i = begin.len; i < line.len - 5; i++)
        if (line.data[i] != ' ' && !ascii_is_upper(line.data[i]))
            return false;
    return true;
}

/* Keeps the lines that frame a PEM block, and puts one line of characters between them. False when
 * the finding goes on after the block, because others have been joined to it. */
bool surrogate_write_private_key(const struct surrogate_request *request, struct draw *draw,
                                 struct buf *out)
{
    struct td_str value = request->value;
    static const char line[] = "MHcCAQEEIAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAoAoGCCqGSM49AwEH";
    size_t head = str_find(value, STR("-----"), 5);
    if (head == SIZE_MAX)
        return false;
    head += 5;
    size_t end = str_find(value, STR("-----END"), head);
    size_t tail = end == SIZE_MAX ? value.len : end;
    if (!is_frame(str_slice(value, 0, head), STR("-----BEGIN")) ||
        (tail < value.len && !is_frame(str_slice(value, tail, value.len), STR("-----END"))))
        return false;
    const char *newline = str_find(str_slice(value, head, tail), STR("\\n"), 0) == 0 ? "\\n" : "\n";
    buf_append_str(out, str_slice(value, 0, head));
    buf_append_str(out, str_from(newline));
    surrogate_write_shape(STR(line), draw, out);
    if (tail < value.len)
        buf_append_str(out, str_from(newline));
    buf_append_str(out, str_slice(value, tail, value.len));
    return true;
}
