#include "api/http/query.h"

#include "api/http/reply.h"
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

bool query_check(struct api *api, struct http_request *request, const char *names)
{
    struct td_str query = str_from(http_request_query(request)), part, other;
    struct fault fault = {0};
    while (str_next(&query, '&', &part)) {
        struct td_str rest = str_from(names), name;
        bool known = !str_next(&part, '=', &other);
        while (!known && str_next(&rest, ' ', &name))
            known = str_equal(other, name);
        if (known)
            continue;
        fault_request(&fault, NULL, "there is no parameter '" STR_FMT "' here, but: %s",
                      STR_ARG(str_slice(other, 0, 60)), names);
        api_reply_fault(api, request, &fault);
        return false;
    }
    return true;
}

bool query_wall_ms(struct api *api, struct http_request *request, const char *name, uint64_t *out)
{
    struct fault fault = {0};
    if (query_number(request, str_from(name), 0, out))
        return true;
    fault_request(&fault, name, "%s must be milliseconds since 1970", name);
    api_reply_fault(api, request, &fault);
    return false;
}
