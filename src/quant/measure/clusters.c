#include "quant/measure/clusters.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"

#include <stdlib.h>

#define WORDS_MAX 16384 /* a power of two; three quarters of them are used */
#define WORD_BYTES 24
#define WORD_LETTERS_MIN 3
#define NAME_WORDS 3
/* A word names a cluster when the share of its questions that have it is this much above that of
 * the others. */
#define NAME_SHARE 0.25

/* In how many questions a word stands. */
struct word {
    char text[WORD_BYTES]; /* "" = free */
    size_t seen_in;        /* 1 + the last text */
    uint32_t count, counts[CLUSTERS_MAX];
};

struct finder {
    struct clusters *out;
    struct sketch *sketches; /* [text_count] */
    uint32_t *near;          /* [text_count] uncovered ones near each */
    struct word *words;      /* [WORDS_MAX] open addressing */
    size_t word_count;
};

/* --- clusters --- */

static bool are_near(const struct finder *finder, size_t a, size_t b)
{
    return similarity_distance(finder->sketches[a].bits, finder->sketches[b].bits) <= CLUSTERS_NEAR;
}

static void count_near(struct finder *finder)
{
    size_t count = finder->out->text_count;
    for (size_t i = 0; i < count; i++) {
        if (!finder->sketches[i].known)
            continue;
        finder->near[i]++;
        for (size_t j = i + 1; j < count; j++) {
            uint32_t near = finder->sketches[j].known && are_near(finder, i, j);
            finder->near[i] += near;
            finder->near[j] += near;
        }
    }
}

/* Takes the leader's neighbours out of everybody's count. */
static void cover(struct finder *finder, size_t leader)
{
    struct clusters *out = finder->out;
    uint8_t number = (uint8_t)out->count;
    out->leaders[out->count++] = leader;
    for (size_t i = 0; i < out->text_count; i++)
        if (finder->sketches[i].known && out->of[i] == CLUSTERS_NONE && are_near(finder, i, leader))
            out->of[i] = number;
    for (size_t i = 0; i < out->text_count; i++)
        for (size_t j = 0; out->of[i] == number && j < out->text_count; j++)
            if (out->of[j] == CLUSTERS_NONE && finder->sketches[j].known && are_near(finder, i, j))
                finder->near[j]--;
}

static void find_leaders(struct finder *finder)
{
    struct clusters *out = finder->out;
    size_t least = (size_t)((double)out->text_count * CLUSTERS_SHARE_MIN);
    least = least > CLUSTERS_SIZE_MIN ? least : CLUSTERS_SIZE_MIN;
    while (out->count < CLUSTERS_MAX) {
        size_t best = 0;
        uint32_t most = 0;
        for (size_t i = 0; i < out->text_count; i++)
            if (out->of[i] == CLUSTERS_NONE && finder->near[i] > most) {
                most = finder->near[i];
                best = i;
            }
        if (most < least)
            return;
        cover(finder, best);
    }
}

static void assign(struct finder *finder)
{
    struct clusters *out = finder->out;
    for (size_t i = 0; i < out->text_count; i++) {
        unsigned nearest = CLUSTERS_NEAR + 1;
        out->of[i] = CLUSTERS_NONE;
        for (size_t c = 0; finder->sketches[i].known && c < out->count; c++) {
            unsigned distance = similarity_distance(finder->sketches[i].bits,
                                                    finder->sketches[out->leaders[c]].bits);
            if (distance < nearest) {
                nearest = distance;
                out->of[i] = (uint8_t)c;
            }
        }
        if (out->of[i] != CLUSTERS_NONE)
            out->sizes[out->of[i]]++;
    }
}

/* --- names --- */

static struct word *find_word(struct finder *finder, struct td_str text)
{
    size_t at = hash_fnv1a64(text.data, text.len, HASH_FNV1A64_BASIS) & (WORDS_MAX - 1);
    for (;; at = (at + 1) & (WORDS_MAX - 1)) {
        struct word *word = &finder->words[at];
        if (str_equal(str_from(word->text), text))
            return word;
        if (*word->text)
            continue;
        if (finder->word_count == WORDS_MAX / 4 * 3)
            return NULL; /* a rare word of large traffic names nothing */
        finder->word_count++;
        memcpy(word->text, text.data, text.len);
        return word;
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

static void count_words(struct finder *finder, const struct utterance *utterance, size_t text)
{
    unsigned cluster = finder->out->of[text];
    for (size_t at = 0, end; at < utterance->len; at = end + 1) {
        for (end = at; end < utterance->len && is_letter(utterance->text[end]); end++)
            ;
        if (end - at < WORD_LETTERS_MIN || end - at >= WORD_BYTES)
            continue;
        struct word *word = find_word(finder, (struct td_str){utterance->text + at, end - at});
        if (!word || word->seen_in == text + 1)
            continue;
        word->seen_in = text + 1;
        word->count++;
        if (cluster != CLUSTERS_NONE)
            word->counts[cluster]++;
    }
}

/* How much more frequent a word is in a cluster than elsewhere. */
static double excess(const struct clusters *clusters, const struct word *word, size_t cluster)
{
    double inside = (double)clusters->sizes[cluster];
    double outside = (double)clusters->text_count - inside;
    double in = word->counts[cluster], out = word->count - word->counts[cluster];
    return (inside > 0 ? in / inside : 0) - (outside > 0 ? out / outside : 0);
}

static void name_cluster(const struct finder *finder, size_t cluster)
{
    char *name = finder->out->names[cluster];
    const struct word *taken[NAME_WORDS] = {NULL};
    size_t len = 0;
    for (size_t n = 0; n < NAME_WORDS; n++) {
        double most = NAME_SHARE;
        for (size_t i = 0; i < WORDS_MAX; i++) {
            const struct word *word = &finder->words[i];
            double value = *word->text ? excess(finder->out, word, cluster) : 0;
            bool again = word == taken[0] || word == taken[1];
            /* Of equals the first in the alphabet: the order of the table means nothing. */
            bool first = taken[n] && value >= most && strcmp(word->text, taken[n]->text) < 0;
            if (again || value < most || (taken[n] && !(value > most) && !first))
                continue;
            most = value;
            taken[n] = word;
        }
        if (!taken[n] || len + strlen(taken[n]->text) + 2 >= CLUSTERS_NAME_BYTES)
            return;
        memcpy(name + len, n ? " " : "", n ? 1 : 0);
        len += n > 0;
        memcpy(name + len, taken[n]->text, strlen(taken[n]->text));
        len += strlen(taken[n]->text);
    }
}

enum td_status clusters_find(const struct similarity *similarity, const struct td_str *texts,
                             size_t count, struct clusters *out, struct td_error *err)
{
    ASSERT(count <= CLUSTERS_TEXTS_MAX);
    *out = (struct clusters){.text_count = count};
    out->of = malloc(count + 1);
    struct finder finder = {.out = out};
    finder.sketches = calloc(count + 1, sizeof *finder.sketches);
    finder.near = calloc(count + 1, sizeof *finder.near);
    finder.words = calloc(WORDS_MAX, sizeof *finder.words);
    bool got = out->of && finder.sketches && finder.near && finder.words;
    struct utterance utterance;
    for (size_t i = 0; got && i < count; i++) {
        utterance_read_text(texts[i], &utterance);
        similarity_sketch(similarity, &utterance, &finder.sketches[i]);
    }
    if (got) {
        memset(out->of, CLUSTERS_NONE, count + 1);
        count_near(&finder);
        find_leaders(&finder);
        assign(&finder);
    }
    for (size_t i = 0; got && i < count; i++) {
        utterance_read_text(texts[i], &utterance);
        count_words(&finder, &utterance, i);
    }
    for (size_t c = 0; got && c < out->count; c++)
        name_cluster(&finder, c);
    free(finder.sketches);
    free(finder.near);
    free(finder.words);
    if (got)
        return TD_OK;
    clusters_deinit(out);
    return error_set(err, TD_NO_MEMORY, "no memory for %zu questions", count);
}

void clusters_deinit(struct clusters *clusters)
{
    free(clusters->of);
    *clusters = (struct clusters){0};
}
