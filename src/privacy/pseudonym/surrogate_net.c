/* Surrogates for addresses of mail and machines. Hosts lie under example.com and its like, and
 * addresses come from the ranges for documentation, so that nobody who follows one reaches a
 * stranger. */

#include "base/core/str.h"
#include "privacy/pseudonym/surrogate_names.h"
#include "privacy/pseudonym/surrogate_writers.h"
#include "privacy/text/spell.h"

#include <stdio.h>
#include <string.h>

/* --- mail and hosts --- */

static void append_lower(struct td_str text, struct buf *out)
{
    spell_in_case(text, SPELL_LOWER, out);
}

static void append_word(struct draw *draw, struct buf *out)
{
    struct buf word;
    buf_init(&word, 64);
    surrogate_names_invent(draw_u64(draw), &word);
    append_lower(buf_view(&word), out);
    buf_deinit(&word);
}

static void append_host(struct draw *draw, struct buf *out)
{
    static const char *const tops[] = {"example.com", "example.org", "example.net"}; /* RFC 2606 */
    append_word(draw, out);
    buf_append_char(out, '.');
    buf_append_str(out, str_from(tops[draw_below(draw, 3)]));
}

bool surrogate_write_email(const struct surrogate_request *request, struct draw *draw,
                           struct buf *out)
{
    struct td_str value = request->value;
    size_t at = str_find(value, STR("@"), 0);
    if (at == SIZE_MAX || at == 0 || str_find(value, STR("@"), at + 1) != SIZE_MAX ||
        str_find(value, STR(" "), 0) != SIZE_MAX)
        return false; /* written in words, or encoded */
    struct td_str local = str_slice(value, 0, at);
    bool two = str_find(local, STR("."), 0) != SIZE_MAX || str_find(local, STR("_"), 0) != SIZE_MAX;
    size_t given = surrogate_names_count(NAMES_ENGLISH, NAME_FEMALE);
    size_t family = surrogate_names_count(NAMES_ENGLISH, NAME_FAMILY);
    if (two) {
        append_lower(
            surrogate_names_at(NAMES_ENGLISH, NAME_FEMALE, draw_below(draw, (uint32_t)given)), out);
        buf_append_char(out, '.');
    }
    append_lower(surrogate_names_at(NAMES_ENGLISH, NAME_FAMILY, draw_below(draw, (uint32_t)family)),
                 out);
    buf_printf(out, "%u", 10 + draw_below(draw, 990));
    buf_append_char(out, '@');
    append_host(draw, out);
    return true;
}

/* scheme://host:port/path, or a host: gets another host, and a path of the same shape. */
bool surrogate_write_domain(const struct surrogate_request *request, struct draw *draw,
                            struct buf *out)
{
    struct td_str value = request->value;
    size_t scheme = str_find(value, STR("://"), 0), begin = scheme == SIZE_MAX ? 0 : scheme + 3;
    size_t end = begin;
    while (end < value.len && !strchr("/?#:", value.data[end]))
        end++;
    buf_append_str(out, str_slice(value, 0, begin));
    append_host(draw, out);
    surrogate_write_shape(str_slice(value, end, value.len), draw, out);
    return true;
}

/* --- machines --- */

bool surrogate_write_ip(const struct surrogate_request *request, struct draw *draw, struct buf *out)
{
    struct td_str value = request->value;
    if (str_find(value, STR(":"), 0) != SIZE_MAX && str_find(value, STR("."), 0) == SIZE_MAX) {
        buf_printf(out, "2001:db8:%x:%x::%x", 0x1000 + draw_below(draw, 0xf000), /* RFC 3849 */
                   0x1000 + draw_below(draw, 0xf000), 0x10 + draw_below(draw, 0xfff0));
        return true;
    }
    static const char *const nets[][3] = {
        {"192", "0", "2"}, {"198", "51", "100"}, {"203", "0", "113"}};
    char sign = '\0'; /* between the numbers; a host that is named after the address has others */
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if (c >= '0' && c <= '9')
            continue;
        if ((c != '.' && c != '-' && c != '_') || (sign != '\0' && c != sign))
            return false;
        sign = c;
    }
    sign = sign ? sign : '.';
    if (draw_below(draw, 16) != 0) { /* RFC 5737 */
        const char *const *net = nets[draw_below(draw, 3)];
        buf_printf(out, "%s%c%s%c%s%c%u", net[0], sign, net[1], sign, net[2], sign,
                   1 + draw_below(draw, 254));
        return true;
    }
    /* Those are few. 198.18/15 is for benchmarks (RFC 2544) and nobody's address either. */
    uint32_t net = 18 + draw_below(draw, 2), part = draw_below(draw, 256);
    buf_printf(out, "198%c%u%c%u%c%u", sign, net, sign, part, sign, 1 + draw_below(draw, 254));
    return true;
}

/* A locally administered address: the second hex digit is 2. */
bool surrogate_write_mac(const struct surrogate_request *request, struct draw *draw,
                         struct buf *out)
{
    struct td_str value = request->value;
    char digits[13];
    if (spell_count(value) != 12)
        return false;
    snprintf(digits, sizeof digits, "02%010llx",
             (unsigned long long)(draw_u64(draw) & UINT64_C(0xffffffffff)));
    struct buf filled;
    buf_init(&filled, value.len + 16);
    spell_fill(value, str_from(digits), &filled);
    spell_in_case(buf_view(&filled),
                  spell_case_of(value) == SPELL_UPPER ? SPELL_UPPER : SPELL_LOWER, out);
    buf_deinit(&filled);
    return true;
}
