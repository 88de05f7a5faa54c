#include "api/http/query.h"

#include "base/core/ascii.h"

static bool find(const struct http_request *request, struct td_str name, struct td_str *out)
{
    struct td_str query = str_from(http_request_query(request)), part;
    while (str_next(&query, '&', &part)) {
        struct td_str key;
        if (str_next(&part, '=', &key) && str_equal(key, name)) {
            *out = part;
            return true;
        }
    }
    return false;
}

bool query_has_only(const struct http_request *request, struct td_str names, struct td_str *out)
{
    struct td_str query = str_from(http_request_query(request)), part;
    while (str_next(&query, '&', &part)) {
        struct td_str rest = names, name;
        bool known = !str_next(&part, '=', out);
        while (!known && str_next(&rest, ' ', &name))
            known = str_equal(*out, name);
        if (!known)
            return false;
    }
    return true;
}

bool query_number(const struct http_request *request, struct td_str name, uint64_t otherwise,
                  uint64_t *out)
{
    struct td_str value;
    *out = otherwise;
    return !find(request, name, &value) || str_to_u64(value, out);
}

bool query_text(const struct http_request *request, struct td_str name, char *out, size_t size)
{
    struct td_str value;
    size_t len = 0;
    out[0] = '\0';
    if (!find(request, name, &value))
        return true;
    for (size_t i = 0; i < value.len; i++) {
        int byte = (unsigned char)value.data[i];
        if (byte == '%') {
            int high = value.len - i > 2 ? ascii_hex_value(value.data[i + 1]) : -1;
            int low = high >= 0 ? ascii_hex_value(value.data[i + 2]) : -1;
            byte = low >= 0 ? 16 * high + low : 0;
            i += 2;
        }
        if (byte == 0 || len + 1 >= size)
            return false;
        out[len++] = (char)byte;
    }
    out[len] = '\0';
    return true;
}
