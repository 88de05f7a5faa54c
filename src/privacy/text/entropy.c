/* Measures how random a string looks: Shannon's entropy of its characters, and how many classes of
 * characters it mixes. Both are cheap, need no model, and tell keys from words well enough when
 * they are asked together. */
#include "privacy/text/entropy.h"

#include <math.h>
#include <string.h>

double entropy_bits_per_char(struct td_str text)
{
    if (text.len == 0)
        return 0;
    unsigned counts[256] = {0};
    for (size_t i = 0; i < text.len; i++)
        counts[(unsigned char)text.data[i]]++;
    /* H = -sum p log2 p with p = n / N, that is log2 N - (sum n log2 n) / N */
    double sum = 0;
    for (size_t i = 0; i < 256; i++)
        if (counts[i] > 1)
            sum += counts[i] * log2(counts[i]);
    return log2((double)text.len) - sum / (double)text.len;
}

unsigned entropy_classes(struct td_str text)
{
    bool lower = false, upper = false, digit = false, symbol = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        lower |= c >= 'a' && c <= 'z';
        upper |= c >= 'A' && c <= 'Z';
        digit |= c >= '0' && c <= '9';
        symbol |= c != '\0' && strchr("!@#$%^&*?+~=|", c) != NULL;
    }
    return (unsigned)lower + upper + digit + symbol;
}

bool entropy_is_mixed(struct td_str text)
{
    bool letter = false, digit = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        letter |= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        digit |= c >= '0' && c <= '9';
    }
    return letter && digit;
}
