/* printf computes all digits of a double with integers of many words, half a microsecond each, and
 * the record of a request has ten of them. Here the number is scaled to fifteen digits before its
 * point in the 64 bits of a long double's mantissa. Both factors are exact, so the product is off
 * by one rounding: by less than 2^-14, because it is below 2^50. Where the nearest integer is
 * nearer to the next one than that, and outside of the plain form, nothing is written. */
#include "base/text/decimal.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define DIGITS 15
#define UNSURE 0x1p-10L /* of half a unit: four bits more than the error */

static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                     1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                     1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L};

/* The power of ten of its first digit, from -4 to 14. */
static int magnitude_of(double value)
{
    int power = 0;
    if (value < 1)
        return value >= 0.1 ? -1 : value >= 0.01 ? -2 : value >= 0.001 ? -3 : -4;
    while (value >= (double)powers[power + 1])
        power++;
    return power;
}

/* Writes digits[0 .. count) with the point after the first one times 10^power. */
static size_t place_point(const char *digits, size_t count, int power, char *out)
{
    size_t len = 0, whole = power < 0 ? 0 : (size_t)power + 1;
    if (whole >= count) {
        memcpy(out, digits, count);
        memset(out + count, '0', whole - count);
        return whole;
    }
    if (whole == 0)
        out[len++] = '0';
    memcpy(out + len, digits, whole);
    len += whole;
    out[len++] = '.';
    for (int i = -1; i > power; i--)
        out[len++] = '0';
    memcpy(out + len, digits + whole, count - whole);
    return len + count - whole;
}

size_t decimal_write(double value, char out[static DECIMAL_BYTES])
{
    char digits[DIGITS];
    size_t count = DIGITS, len = 0;
    double size = fabs(value);
    if (LDBL_MANT_DIG < 64 || !(size >= 1e-4 && size < 1e15))
        return 0;
    int power = magnitude_of(size);
    long double scaled = (long double)size * powers[DIGITS - 1 - power];
    uint64_t whole = (uint64_t)scaled;
    long double rest = scaled - (long double)whole;
    if (fabsl(rest - 0.5L) < UNSURE)
        return 0;
    whole += rest > 0.5L;
    if (whole < UINT64_C(100000000000000) || whole >= UINT64_C(1000000000000000))
        return 0; /* beside a power of ten */
    for (size_t i = DIGITS; i-- > 0; whole /= 10)
        digits[i] = (char)('0' + whole % 10);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (value < 0)
        out[len++] = '-';
    return len + place_point(digits, count, power, out + len);
}
