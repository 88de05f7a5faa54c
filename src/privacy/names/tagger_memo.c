/* A table with one place for each key; a new island takes the place of an old one.
 *
 * The key covers every value that tagger_features, the chain and the choice of spans read: what is
 * known of the island's words and of TAGGER_REACH words on both sides, the island's letters, the
 * case and language of the text around it, and the thresholds. So an island that is found would
 * give the same names again. Somebody who could make two islands share a key could hide a name
 * behind a text without one. So the key is 128 bits of SipHash under a secret of this process.
 *
 * Nobody waits here: a table that another thread uses now counts as one without the island. */
#include "privacy/names/tagger_memo.h"

#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* 14 kB of prose have some 300 islands. 192 KiB, of which only what is used takes memory. */
#define PLACES 4096
#define WORD_BYTES 10 /* of one word in a key */
#define HEAD_BYTES 16
#define KEY_BYTES_MAX 640 /* an island of 64 words is longer; most have one to three */

struct place {
    struct tagger_memo_key key;
    struct tagger_memo_spans spans;
    bool used;
};

struct tagger_memo {
    uint8_t secret[KEYED_SHORT_KEY_BYTES];
    pthread_mutex_t mutex;
    struct place *places;
};

struct tagger_memo *tagger_memo_new(void)
{
    struct tagger_memo *memo = calloc(1, sizeof *memo);
    if (memo == NULL)
        return NULL;
    pthread_mutex_init(&memo->mutex, NULL);
    memo->places = calloc(PLACES, sizeof *memo->places);
    if (memo->places == NULL || crypto_random(memo->secret, sizeof memo->secret, NULL) != TD_OK) {
        tagger_memo_free(memo);
        return NULL;
    }
    return memo;
}

void tagger_memo_free(struct tagger_memo *memo)
{
    if (memo == NULL)
        return;
    pthread_mutex_destroy(&memo->mutex);
    free(memo->places);
    free(memo);
}

static uint8_t *put_word(uint8_t *to, const struct tagger_word *word)
{
    const uint64_t known = word->hash | (uint64_t)word->classes << 32 | (uint64_t)word->gap << 48 |
                           (uint64_t)word->shape << 56;
    memcpy(to, &known, sizeof known);
    to[sizeof known] = word->length;
    to[sizeof known + 1] = (uint8_t)(word->sentence | word->mixed << 1);
    return to + WORD_BYTES;
}

/* The head is as long for all, and says how many words follow, so no two islands read alike. */
static uint8_t *put_head(uint8_t *to, const struct tagger_island *island, size_t from, size_t after,
                         const struct tagger_memo_settings *settings)
{
    uint8_t head[HEAD_BYTES] = {(uint8_t)island->text_case,
                                island->foreign,
                                settings->gap_after,
                                (uint8_t)(island->begin - from),
                                (uint8_t)(island->end - island->begin),
                                (uint8_t)(after - island->end)};
    memcpy(head + 8, &settings->least, sizeof settings->least);
    memcpy(head + 12, &settings->min_score, sizeof settings->min_score);
    memcpy(to, head, sizeof head);
    return to + sizeof head;
}

bool tagger_memo_key(const struct tagger_memo *memo, struct td_str text,
                     const struct tagger_island *island,
                     const struct tagger_memo_settings *settings, struct tagger_memo_key *out)
{
    uint8_t bytes[KEY_BYTES_MAX], *to = bytes;
    const size_t before = island->begin < TAGGER_REACH ? island->begin : TAGGER_REACH;
    const size_t left = island->count - island->end;
    const size_t from = island->begin - before;
    const size_t after = island->end + (left < TAGGER_REACH ? left : TAGGER_REACH);
    const size_t begin = island->words[island->begin].begin;
    const size_t len = island->words[island->end - 1].end - begin;
    const size_t words_bytes = HEAD_BYTES + (after - from) * WORD_BYTES;
    if (memo == NULL || words_bytes > sizeof bytes || len > sizeof bytes - words_bytes)
        return false;
    to = put_head(to, island, from, after, settings);
    for (size_t i = from; i < after; i++)
        to = put_word(to, &island->words[i]);
    memcpy(to, text.data + begin, len);
    keyed_short(memo->secret, bytes, words_bytes + len, (uint8_t *)out->words);
    return true;
}

static struct place *place_of(struct tagger_memo *memo, const struct tagger_memo_key *key)
{
    return &memo->places[key->words[0] % PLACES];
}

bool tagger_memo_find(struct tagger_memo *memo, const struct tagger_memo_key *key,
                      struct tagger_memo_spans *out)
{
    if (pthread_mutex_trylock(&memo->mutex) != 0)
        return false;
    const struct place *place = place_of(memo, key);
    bool found =
        place->used && place->key.words[0] == key->words[0] && place->key.words[1] == key->words[1];
    if (found)
        *out = place->spans;
    pthread_mutex_unlock(&memo->mutex);
    return found;
}

void tagger_memo_keep(struct tagger_memo *memo, const struct tagger_memo_key *key,
                      const struct tagger_memo_spans *spans)
{
    if (pthread_mutex_trylock(&memo->mutex) != 0)
        return;
    *place_of(memo, key) = (struct place){.key = *key, .spans = *spans, .used = true};
    pthread_mutex_unlock(&memo->mutex);
}
