/* Throughput of the scan: MB/s on plain prose, on prose full of numbers and addresses, and on text
 * that is nothing but beginnings of findings. Prints one line each, the best of five passes over 8
 * MB. */
#include "base/clock.h"
#include "privacy/privacy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)8 << 20)

static const struct {
    const char *name, *unit;
} texts[] = {
    {"prose", "The quick brown fox jumps over the lazy dog, and nobody knows why it always does "
              "so; it may be "
              "that the dog sleeps too well. Perhaps the question is older than both of them, and "
              "will stay. "},
    {"prose with numbers",
     "On 2024-05-01 at 10:30 we shipped 1,204 units (order 20240501-17) for 99.90 EUR; see "
     "section 3.2.1, tel. on page 12, and mail max@example.com or 192.168.0.1 for more. "},
    {"cyrillic", "\xd0\x91\xd1\x8b\xd1\x81\xd1\x82\xd1\x80\xd0\xb0\xd1\x8f "
                 "\xd0\xbb\xd0\xb8\xd1\x81\xd0\xb0 \xd0\xb1\xd0\xb5\xd0\xb6\xd0\xb8\xd1\x82. "},
    {"source code", "static int find(const char *key, size_t len) { for (size_t i = 0; i < len; "
                    "i++) if (table[i] == "
                    "key[0]) return (int)i; token = next(token); return -1; } /* x: y */\n"},
    {"only beginnings", "4111 1111 +1 a@b DE89 sk-a1 password: 12:3 1.2.3 -----BEGIN "},
};

int main(void)
{
    char *text = malloc(BYTES);
    if (text == NULL)
        return 1;
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        size_t unit = strlen(texts[t].unit), found = 0;
        for (size_t i = 0; i < BYTES; i++)
            text[i] = texts[t].unit[i % unit];
        double best_ms = 1e30;
        for (int pass = 0; pass < 5; pass++) {
            double begin = clock_monotonic_ms(NULL);
            found = privacy_scan((struct td_str){text, BYTES}, NULL, 0);
            double ms = clock_monotonic_ms(NULL) - begin;
            best_ms = ms < best_ms ? ms : best_ms;
        }
        printf("privacy_scan %-20s %7.0f MB/s  %zu findings\n", texts[t].name,
               (double)BYTES / 1e6 / (best_ms / 1e3), found);
    }
    free(text);
    return 0;
}
