/* Canaries: made-up private values with valid checksums, drawn from a seed. Shared by the tests
 * that plant them and look for what escapes. */
#ifndef TESTS_CANARY_H
#define TESTS_CANARY_H

#include "base/crypto/rng.h"
#include "privacy/scan/privacy.h"

#include <stdio.h>

#define CANARY_BYTES 512

static inline void canary_chars(struct rng *rng, const char *set, size_t count, char *out)
{
    size_t set_len = strlen(set);
    for (size_t i = 0; i < count; i++)
        out[i] = set[rng_below(rng, set_len)];
    out[count] = '\0';
}

#define CANARY_LOWER "abcdefghijklmnopqrstuvwxyz"
#define CANARY_UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define CANARY_DIGITS "0123456789"
#define CANARY_ALNUM CANARY_LOWER CANARY_UPPER CANARY_DIGITS

static inline void canary_email(struct rng *rng, char out[static CANARY_BYTES])
{
    static const char *const domains[] = {"acmeltd.com", "mail.acmeltd.org", "dept.uni-example.de",
                                          "example.co.uk"};
    char first[8], second[10];
    canary_chars(rng, CANARY_LOWER, 3 + rng_below(rng, 4), first);
    canary_chars(rng, CANARY_LOWER CANARY_DIGITS, 4 + rng_below(rng, 5), second);
    snprintf(out, CANARY_BYTES, "%s%c%s@%s", first, "._+-"[rng_below(rng, 4)], second,
             domains[rng_below(rng, 4)]);
}

static inline void canary_phone(struct rng *rng, char out[static CANARY_BYTES])
{
    char d[12];
    canary_chars(rng, "23456789", 11, d);
    static const char *const formats[] = {"+1 %.3s %.3s %.4s",   "+1-%.3s-%.3s-%.4s",
                                          "+49 %.3s %.3s%.4s",   "+44%.3s%.3s%.4s",
                                          "0033 %.3s %.3s %.4s", "+41 (0)%.3s.%.3s.%.4s"};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, CANARY_BYTES, formats[rng_below(rng, 6)], d, d + 3, d + 6);
#pragma GCC diagnostic pop
}

static inline void canary_card(struct rng *rng, char out[static CANARY_BYTES])
{
    static const struct {
        const char *prefix;
        size_t len;
    } brands[] = {{"4", 16},  {"51", 16},   {"2221", 16}, {"34", 15},
                  {"37", 15}, {"6011", 16}, {"36", 14},   {"3530", 16}};
    size_t brand = rng_below(rng, 8), len = brands[brand].len,
           prefix = strlen(brands[brand].prefix);
    char digits[20];
    memcpy(digits, brands[brand].prefix, prefix);
    canary_chars(rng, CANARY_DIGITS, len - 1 - prefix, digits + prefix);
    unsigned sum = 0;
    for (size_t i = 0; i < len - 1; i++) {
        unsigned digit = (unsigned)(digits[len - 2 - i] - '0');
        digit *= i % 2 == 0 ? 2 : 1;
        sum += digit > 9 ? digit - 9 : digit;
    }
    digits[len - 1] = (char)('0' + (10 - sum % 10) % 10);
    digits[len] = '\0';
    char separator = " -\0"[rng_below(rng, 3)];
    size_t at = 0;
    for (size_t i = 0; i < len; i++) {
        bool group = len == 16 ? i % 4 == 0 : i == 4 || i == 10;
        if (separator && i > 0 && group)
            out[at++] = separator;
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static inline void canary_iban(struct rng *rng, char out[static CANARY_BYTES])
{
    char body[20], number[48];
    bool german = rng_below(rng, 2) == 0;
    if (german) {
        canary_chars(rng, CANARY_DIGITS, 18, body);
    } else {
        canary_chars(rng, CANARY_UPPER, 4, body);
        canary_chars(rng, CANARY_DIGITS, 14, body + 4);
    }
    const char *country = german ? "DE" : "GB";
    snprintf(number, sizeof number, "%s%s00", body, country);
    unsigned remainder = 0;
    for (const char *p = number; *p; p++)
        remainder = *p <= '9' ? (remainder * 10 + (unsigned)(*p - '0')) % 97
                              : (remainder * 100 + (unsigned)(*p - 'A' + 10)) % 97;
    snprintf(number, sizeof number, "%s%02u%s", country, 98 - remainder, body);
    bool spaced = rng_below(rng, 2) == 0, lower = rng_below(rng, 4) == 0;
    size_t at = 0;
    for (size_t i = 0; number[i]; i++) {
        if (spaced && i > 0 && i % 4 == 0)
            out[at++] = ' ';
        out[at++] = lower && number[i] >= 'A' ? (char)(number[i] + 32) : number[i];
    }
    out[at] = '\0';
}

static inline void canary_ssn(struct rng *rng, char out[static CANARY_BYTES])
{
    unsigned area = 1 + (unsigned)rng_below(rng, 899);
    area += area == 666;
    snprintf(out, CANARY_BYTES, "%03u-%02u-%04u", area, 1 + (unsigned)rng_below(rng, 99),
             1 + (unsigned)rng_below(rng, 9999));
}

static inline void canary_ip(struct rng *rng, char out[static CANARY_BYTES])
{
    if (rng_below(rng, 3) == 0)
        snprintf(out, CANARY_BYTES, "2a01:db8:%x:%x::%x", 1 + (unsigned)rng_below(rng, 0xfffe),
                 1 + (unsigned)rng_below(rng, 0xfffe), 1 + (unsigned)rng_below(rng, 0xfffe));
    else
        snprintf(out, CANARY_BYTES, "%u.%u.%u.%u", 128 + (unsigned)rng_below(rng, 40),
                 (unsigned)rng_below(rng, 256), (unsigned)rng_below(rng, 256),
                 (unsigned)rng_below(rng, 256));
}

static inline void canary_api_key(struct rng *rng, char out[static CANARY_BYTES])
{
    static const struct {
        const char *prefix, *set;
        size_t len;
    } formats[] = {
        {"sk-proj-", CANARY_ALNUM "_-", 48},      {"sk-", CANARY_ALNUM, 48},
        {"sk-ant-api03-", CANARY_ALNUM "_-", 80}, {"ghp_", CANARY_ALNUM, 36},
        {"github_pat_", CANARY_ALNUM "_", 82},    {"AKIA", CANARY_UPPER CANARY_DIGITS, 16},
        {"AIza", CANARY_ALNUM "_-", 35},          {"xoxb-", CANARY_ALNUM, 40},
        {"sk_live_", CANARY_ALNUM, 24},           {"hf_", CANARY_ALNUM, 34}};
    size_t i = rng_below(rng, sizeof formats / sizeof formats[0]);
    size_t prefix = strlen(formats[i].prefix);
    memcpy(out, formats[i].prefix, prefix);
    canary_chars(rng, formats[i].set, formats[i].len, out + prefix);
    memcpy(out + prefix + 4, "a7", 2); /* both a letter and a digit, */
    if (formats[i].prefix[0] == 'A' && formats[i].prefix[1] == 'K')
        memcpy(out + prefix + 4, "A7", 2);
    out[strlen(out) - 1] =
        out[1] >= 'A' && out[1] <= 'Z' ? 'Z' : 'z'; /* and no punctuation at the end */
}

static inline void canary_private_key(struct rng *rng, char out[static CANARY_BYTES])
{
    static const char *const labels[] = {"RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY",
                                         "PGP PRIVATE KEY BLOCK"};
    const char *label = labels[rng_below(rng, 4)];
    char body[129];
    canary_chars(rng, CANARY_ALNUM "+/", 128, body);
    snprintf(out, CANARY_BYTES, "-----BEGIN %s-----\n%.64s\n%s\n-----END %s-----", label, body,
             body + 64, label);
}

static inline void canary_make(struct rng *rng, enum privacy_kind kind,
                               char out[static CANARY_BYTES])
{
    switch (kind) {
    case PRIVACY_EMAIL:
        canary_email(rng, out);
        break;
    case PRIVACY_PHONE:
        canary_phone(rng, out);
        break;
    case PRIVACY_CARD:
        canary_card(rng, out);
        break;
    case PRIVACY_IBAN:
        canary_iban(rng, out);
        break;
    case PRIVACY_US_SSN:
        canary_ssn(rng, out);
        break;
    case PRIVACY_IP:
        canary_ip(rng, out);
        break;
    case PRIVACY_API_KEY:
        canary_api_key(rng, out);
        break;
    default:
        canary_private_key(rng, out);
        break;
    }
}

#endif
