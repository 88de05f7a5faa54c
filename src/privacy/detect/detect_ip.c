/* IP addresses that can belong to somebody. Loopback, unspecified addresses and net masks say
 * nothing about a person and stand in half of all code, so they are no findings. The same holds for
 * addresses of private networks, which many have, and for those of documentation, which nobody has;
 * and for version numbers. */
#include "privacy/detect/detect.h"

static const char *const version_words[] = {"version", "ver.",     "release", "build",
                                            "section", "firmware", NULL};
#define VERSION_REACH 18 /* "firmware version: " */

/* The first bits of addresses that are nobody's, in the order of RFC 6890, section 2.2.2. */
static bool is_nobodys_ip4(const int octets[static 4])
{
    static const struct {
        uint32_t net;
        unsigned bits;
    } nets[] = {
        {0x00000000, 8},                    /* this network */
        {0x0a000000, 8},                    /* private (RFC 1918), and the two below */
        {0x7f000000, 8},                    /* loopback */
        {0xa9fe0000, 16},                   /* link local */
        {0xac100000, 12}, {0xc0000200, 24}, /* documentation (RFC 5737), and the last two */
        {0xc0a80000, 16}, {0xc6336400, 24}, {0xcb007100, 24}, {0xff000000, 8}, /* masks */
    };
    uint32_t address = (uint32_t)octets[0] << 24 | (uint32_t)octets[1] << 16 |
                       (uint32_t)octets[2] << 8 | (uint32_t)octets[3];
    size_t i = 0, count = sizeof nets / sizeof *nets;
    while (i < count && (address ^ nets[i].net) >> (32 - nets[i].bits) != 0)
        i++;
    return i < count;
}

/* nobodys: also those that are no findings. */
static bool read_ip4(const struct place *place, const struct window *window, bool nobodys,
                     struct privacy_span *out)
{
    size_t i = 0;
    int octets[4];
    for (int k = 0; k < 4; k++) {
        size_t digits = window_digits(window, i);
        if (digits == 0 || digits > 3)
            return false;
        octets[k] = 0;
        for (size_t d = 0; d < digits; d++)
            octets[k] = octets[k] * 10 + window->c[i + d] - '0';
        i += digits;
        if (octets[k] > 255 || (k < 3 && (i >= window->count || window->c[i++] != '.')))
            return false;
    }
    int next = window->c[i];
    if (is_word(next) || next == '_' || (next == '.' && ascii_is_alnum(window->c[i + 1])) ||
        (next == '-' && ascii_is_letter(window->c[i + 1])))
        return false; /* 1.2.3.4.5, 1.2.3.4-rc1; but 10.0.0.1-20 is a range of addresses */
    if ((place->before == '.' && is_word(place->before2)) ||
        (place->before == '-' && ascii_is_letter(place->before2)))
        return false;
    if ((!nobodys && is_nobodys_ip4(octets)) ||
        context_before(place->text, place->begin, VERSION_REACH, version_words))
        return false;
    *out = span_of(PRIVACY_IP, place->begin, window->end[i - 1], 0.9f);
    return true;
}

static bool find_ip4(const struct place *place, struct privacy_span *out)
{
    return read_ip4(place, place->window, false, out);
}

/* RFC 4291, section 2.2, read left to right: groups of hex digits, at most one "::", an IPv4
 * tail. */
struct ip6 {
    unsigned groups, hex_chars, digits;
    uint32_t first; /* two groups */
    bool compressed;
    size_t end; /* of the last character that belongs */
};

/* An IPv4 tail at `offset`: its end, or 0. */
static size_t ip4_tail(struct td_str text, size_t offset)
{
    struct window window;
    struct privacy_span span;
    window_read(text, offset, &window);
    struct place place = {
        .text = text, .begin = offset, .before = ':', .before2 = ':', .before_begin = offset};
    return read_ip4(&place, &window, true, &span) ? span.end : 0;
}

static bool ip6_read(const struct place *place, struct ip6 *ip)
{
    size_t offset = place->begin;
    struct plain next = plain_at(place->text, offset);
    bool after_colon = false; /* a single ':' was read and a group must follow */
    for (;;) {
        if (next.c == ':') {
            struct plain second = plain_at(place->text, next.end);
            if (second.c == ':') {
                if (ip->compressed)
                    return false;
                ip->compressed = true;
                ip->end = second.end;
                offset = second.end;
            } else if (ip->groups == 0 || !ascii_is_hex(second.c)) {
                return ip->groups > 0; /* a colon that ends the address */
            } else {
                offset = next.end;
            }
            after_colon = true;
            next = plain_at(place->text, offset);
            if (!ascii_is_hex(next.c))
                return ip->compressed && !is_word(next.c) && next.c != ':';
            continue;
        }
        if (!ascii_is_hex(next.c))
            return !is_word(next.c) && next.c != '_';
        if (ip->groups > 0 && !after_colon)
            return false;
        size_t tail = ip->groups >= 1 || ip->compressed ? ip4_tail(place->text, next.begin) : 0;
        if (tail != 0) {
            ip->groups += 2;
            ip->hex_chars += 8;
            ip->digits++;
            ip->end = tail;
            return true;
        }
        unsigned chars = 0;
        uint32_t value = 0;
        while (ascii_is_hex(next.c) && chars <= 4) {
            value = value << 4 |
                    (uint32_t)(ascii_is_digit(next.c) ? next.c - '0' : (next.c | 0x20) - 'a' + 10);
            ip->digits += ascii_is_digit(next.c);
            ip->end = next.end;
            chars++;
            next = plain_at(place->text, next.end);
        }
        if (chars > 4 || ++ip->groups > 8)
            return false;
        if (ip->groups <= 2 && !(ip->compressed && ip->groups == 1))
            ip->first |= value << (ip->groups == 1 ? 16 : 0);
        ip->hex_chars += chars;
        after_colon = false;
        if (next.c != ':')
            return !is_word(next.c) && next.c != '_';
    }
}

static bool read_ip6(const struct place *place, struct privacy_span *out)
{
    struct ip6 ip = {0};
    if (is_word(place->before) || place->before == ':' || place->before == '_')
        return false;
    if (!ip6_read(place, &ip))
        return false;
    /* Compressed ones must have some substance: a[1::2], ace::bad and "::1" are no addresses of
     * anyone. */
    if (ip.compressed ? (ip.groups > 7 || ip.hex_chars < 5 || (ip.groups < 3 && ip.digits == 0) ||
                         ip.groups < 2)
                      : ip.groups != 8)
        return false;
    /* Documentation (RFC 3849), unique local (RFC 4193), link local (RFC 4291). */
    if (ip.first == 0x20010db8 || ip.first >> 25 == 0xfc00 >> 9 || ip.first >> 22 == 0xfe80 >> 6)
        return false;
    *out = span_of(PRIVACY_IP, place->begin, ip.end, 0.95f);
    return true;
}

/* At the ':' that begins "::1", or that ends the first group of "fe80::1", which is a word. */
static bool find_ip6(const struct place *place, struct privacy_span *out)
{
    const unsigned char *bytes = (const unsigned char *)place->text.data;
    size_t begin = place->last_word;
    if (begin == SIZE_MAX || place->begin - begin > 4 || !ascii_is_hex(bytes[begin]))
        return read_ip6(place, out);
    int before = begin == 0 ? PLAIN_END : bytes[begin - 1];
    struct place group = *place;
    group.begin = begin;
    group.before = before < 0x80 ? before : PLAIN_OTHER;
    group.before2 = PLAIN_OTHER;
    return read_ip6(&group, out);
}

const struct detector detector_ip4 = {
    .kinds = {PRIVACY_IP, KINDS_END},
    .triggers = ON(NUMBER),
    .all = NUMBER_IN_GROUPS | NUMBER_DOT,
    .find = find_ip4,
};

const struct detector detector_ip6 = {
    .kinds = {PRIVACY_IP, KINDS_END},
    .triggers = ON(COLON),
    .find = find_ip6,
};
