/* Counting one and two words at a time in a table that never grows. Old counts fade by halving, so
 * the table follows the traffic. A phrase is reported only when its share of escalations lies far
 * above the usual one: with thousands of phrases, chance alone puts some of them a little above. */
#include "router/watch/phrases.h"

#include "base/crypto/hash.h"

#include <math.h>
#include <string.h>

/* A question's words beyond do not tell which phrasing it is. */
#define WORDS_MAX 64
/* Shrinkage: as if each phrase had been seen so often more, with the usual share. */
#define PRIOR 20.0
#define SEEN_MIN 20
/* Of thousands of phrases some are far off by chance: 4 standard errors leave one in 30,000. */
#define Z_MIN 4.0
#define FULL (PHRASES_MAX * 3 / 4)

static struct phrase *find(struct phrases *phrases, const char *text, size_t len)
{
    size_t at = hash_fnv1a64(text, len, HASH_FNV1A64_BASIS) % PHRASES_MAX;
    for (; phrases->items[at].text[0]; at = (at + 1) % PHRASES_MAX)
        if (strlen(phrases->items[at].text) == len &&
            memcmp(phrases->items[at].text, text, len) == 0)
            return &phrases->items[at];
    memcpy(phrases->items[at].text, text, len);
    phrases->items[at].text[len] = '\0';
    phrases->items[at].seen = phrases->items[at].escalated = 0;
    phrases->used++;
    return &phrases->items[at];
}

/* Halves what is counted; what came once goes. Rebuilt in place by reinserting. */
static void age(struct phrases *phrases)
{
    struct phrase *kept = phrases->spare;
    size_t count = 0;
    for (size_t i = 0; i < PHRASES_MAX; i++) {
        struct phrase *phrase = &phrases->items[i];
        if (!phrase->text[0] || phrase->seen < 2)
            continue;
        phrase->seen /= 2;
        phrase->escalated /= 2;
        kept[count++] = *phrase;
    }
    /* A table full of phrases that all came often: the rarer half goes. */
    uint32_t least = 1;
    for (size_t left = count; left > FULL / 2;) {
        left = 0;
        least++;
        for (size_t i = 0; i < count; i++)
            left += kept[i].seen >= least;
    }
    memset(phrases->items, 0, sizeof phrases->items);
    phrases->used = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept[i].seen < least)
            continue;
        struct phrase *to = find(phrases, kept[i].text, strlen(kept[i].text));
        to->seen = kept[i].seen;
        to->escalated = kept[i].escalated;
    }
    phrases->seen /= 2;
    phrases->escalated /= 2;
}

static void count_phrase(struct phrases *phrases, const char *text, size_t len, bool escalated)
{
    if (len == 0 || len >= PHRASE_BYTES)
        return;
    if (phrases->used >= FULL)
        age(phrases);
    struct phrase *phrase = find(phrases, text, len);
    phrase->seen++;
    phrase->escalated += escalated;
}

void phrases_add(struct phrases *phrases, const struct utterance *utterance, bool escalated)
{
    const char *text = utterance->text;
    size_t before = SIZE_MAX, at = 0, words = 0;
    phrases->seen++;
    phrases->escalated += escalated;
    while (at < utterance->len && words < WORDS_MAX) {
        while (at < utterance->len && (text[at] == ' ' || text[at] == '\n'))
            at++;
        size_t begin = at;
        while (at < utterance->len && text[at] != ' ' && text[at] != '\n')
            at++;
        if (at == begin)
            return;
        count_phrase(phrases, text + begin, at - begin, escalated);
        if (before != SIZE_MAX)
            count_phrase(phrases, text + before, at - before, escalated);
        before = begin;
        words++;
    }
}

static void insert(struct phrase_lift *out, size_t *count, size_t capacity,
                   const struct phrase_lift *next)
{
    size_t at = *count;
    while (at > 0 && out[at - 1].z < next->z)
        at--;
    if (at == capacity)
        return;
    size_t end = *count < capacity ? *count : capacity - 1;
    memmove(&out[at + 1], &out[at], (end - at) * sizeof *out);
    out[at] = *next;
    *count = end + 1;
}

size_t phrases_top(const struct phrases *phrases, struct phrase_lift *out, size_t capacity)
{
    size_t count = 0;
    double usual = phrases->seen > 0 ? phrases->escalated / phrases->seen : 0;
    if (!(usual > 0 && usual < 1) || capacity == 0)
        return 0;
    for (size_t i = 0; i < PHRASES_MAX; i++) {
        const struct phrase *phrase = &phrases->items[i];
        if (!phrase->text[0] || phrase->seen < SEEN_MIN)
            continue;
        double seen = phrase->seen, share = phrase->escalated / seen;
        struct phrase_lift lift = {
            .seen = phrase->seen,
            .escalated = phrase->escalated,
            .lift = (phrase->escalated + PRIOR * usual) / (seen + PRIOR) / usual,
            .z = (share - usual) / sqrt(usual * (1 - usual) / seen),
        };
        memcpy(lift.text, phrase->text, sizeof lift.text);
        if (lift.z >= Z_MIN)
            insert(out, &count, capacity, &lift);
    }
    return count;
}
