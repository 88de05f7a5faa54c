/* Classes and cases of ASCII characters, independent of the locale.
 *
 * The arguments are int, so that a char, a byte and a code point all fit. Everything outside ASCII,
 * negative values included, belongs to no class and keeps its value. Pure; any thread. */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>

static inline bool ascii_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_upper(int c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool ascii_is_lower(int c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_letter(int c)
{
    return ascii_is_lower(c | 0x20); /* a set bit keeps what is not ASCII outside of the range */
}

static inline bool ascii_is_alnum(int c)
{
    return ascii_is_letter(c) || ascii_is_digit(c);
}

static inline bool ascii_is_hex(int c)
{
    return ascii_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* What isspace() accepts in the C locale. */
static inline bool ascii_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline int ascii_lower(int c)
{
    return ascii_is_upper(c) ? c + ('a' - 'A') : c;
}

static inline int ascii_upper(int c)
{
    return ascii_is_lower(c) ? c - ('a' - 'A') : c;
}

/* The value of a hexadecimal digit of either case, -1 for any other character. */
static inline int ascii_hex_value(int c)
{
    if (ascii_is_digit(c))
        return c - '0';
    return ascii_is_hex(c) ? (c | 0x20) - 'a' + 10 : -1;
}

#endif
