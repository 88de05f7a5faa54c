/* One pass over a text. tagger_chunk.h gives out islands of words, and tagger_features.h turns each
 * word into rows of the weight table. The rows add up to scores of labels. tagger_chain.h turns the
 * scores of an island into probabilities. A word is part of a name when that probability reaches
 * the threshold.
 *
 * Most of the time would go into waiting for memory, so rows are prefetched some words ahead, and a
 * row of eight bytes is added in one step. */
#include "privacy/names/tagger.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "privacy/names/tagger_memo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tagger {
    struct tagger_file file;
    struct chain_steps steps;
    struct tagger_memo *memo; /* NULL: without memory for it */
};

static void fill_steps(struct tagger *tagger)
{
    const int8_t *weights = tagger->file.transitions;
    for (size_t gap = 0; gap < GAP_COUNT; gap++)
        for (size_t k = 0; k < LABEL_COUNT; k++)
            for (size_t l = 0; l < LABEL_COUNT; l++)
                chain_steps_set(&tagger->steps, gap, (enum tagger_label)k, (enum tagger_label)l,
                                (float)*weights++ * tagger->file.transition_step);
}

static enum td_status finish_open(enum td_status status, struct tagger *tagger, struct tagger **out)
{
    if (status != TD_OK) {
        free(tagger);
        return status;
    }
    fill_steps(tagger);
    tagger->memo = tagger_memo_new();
    *out = tagger;
    return TD_OK;
}

enum td_status tagger_open(const char *path, struct tagger **out, struct td_error *err)
{
    struct tagger *tagger = calloc(1, sizeof *tagger);
    if (tagger == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the names file %s", path);
    return finish_open(tagger_file_open(path, &tagger->file, err), tagger, out);
}

enum td_status tagger_open_memory(const void *data, size_t len, const char *label,
                                  struct tagger **out, struct td_error *err)
{
    struct tagger *tagger = calloc(1, sizeof *tagger);
    if (tagger == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the names file %s", label);
    return finish_open(tagger_file_read(data, len, label, &tagger->file, err), tagger, out);
}

void tagger_close(struct tagger *tagger)
{
    if (tagger == NULL)
        return;
    tagger_file_close(&tagger->file);
    tagger_memo_free(tagger->memo);
    free(tagger);
}

uint16_t tagger_word_classes(const struct tagger *tagger, uint32_t hash)
{
    return tagger_classes(&tagger->file, hash);
}

typedef uint16_t shorts __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(16)));

/* Two rows. Each byte becomes a number without sign that is 128 too large. */
static inline shorts rows_load(const int8_t *first, const int8_t *second)
{
    uint64_t both[2];
    memcpy(&both[0], first, sizeof both[0]);
    memcpy(&both[1], second, sizeof both[1]);
    shorts rows;
    memcpy(&rows, both, sizeof rows);
    return rows ^ 0x8080;
}

/* Four sums without the bias: 128 for each row that was added. */
static inline void scores_store(shorts sums, int bias, float step, float out[4])
{
    ints four;
    memcpy(&four, &sums, sizeof four);
    floats scores = __builtin_convertvector(four - bias, floats) * step;
    memcpy(out, &scores, sizeof scores);
}

/* Scores of a word's labels: the sum of its features' rows, two at once, the even labels apart from
 * the odd ones, so that none runs into its neighbour (32 rows of at most 255 do not). */
static void score_word(const struct tagger_file *file, const uint32_t *rows, size_t count,
                       float score[LABEL_COUNT])
{
    static const int8_t nothing[LABEL_COUNT];
    const int8_t *weights = file->weights;
    shorts even = {0}, odd = {0}, zero = {0};
    for (size_t f = 0; f + 1 < count; f += 2) {
        shorts both = rows_load(weights + (size_t)rows[f] * LABEL_COUNT,
                                weights + (size_t)rows[f + 1] * LABEL_COUNT);
        even += both & 0xff;
        odd += both >> 8;
    }
    if (count % 2 != 0) {
        shorts both = rows_load(weights + (size_t)rows[count - 1] * LABEL_COUNT, nothing);
        even += both & 0xff;
        odd += both >> 8;
    }
    even += __builtin_shufflevector(even, even, 4, 5, 6, 7, 4, 5, 6, 7);
    odd += __builtin_shufflevector(odd, odd, 4, 5, 6, 7, 4, 5, 6, 7);
    int bias = 128 * (int)(count + count % 2);
    shorts all = __builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11);
    scores_store(__builtin_shufflevector(all, zero, 0, 8, 1, 8, 2, 8, 3, 8), bias, file->step,
                 score);
    scores_store(__builtin_shufflevector(all, zero, 4, 8, 5, 8, 6, 8, 7, 8), bias, file->step,
                 score + 4);
}

/* Weighs the probability of each label by what missing it would cost. */
static void weigh_labels(const struct tagger_file *file, struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        float *marginal = chain->marginal[i], sum = 0;
        for (size_t l = 0; l < LABEL_COUNT; l++)
            sum += marginal[l] *= file->label_costs[l];
        for (size_t l = 0; l < LABEL_COUNT; l++)
            marginal[l] /= sum;
    }
}

/* The rows lie in more memory than the caches hold, so they are prefetched this many words
 * ahead. */
#define ROWS_AHEAD 4

/* Fills the chain with what is likely of each word. */
static void run_island(struct tagger_cursor *cursor, const struct tagger_island *island)
{
    const struct tagger_chunk *chunk = &cursor->chunk;
    const struct tagger_file *file = chunk->file;
    struct chain *chain = &cursor->chain;
    uint32_t rows[ROWS_AHEAD][TAGGER_FEATURES_MAX];
    size_t counts[ROWS_AHEAD];
    size_t count = chain->count = island->end - island->begin;
    for (size_t i = 0; i < count + ROWS_AHEAD; i++) {
        size_t turn = i % ROWS_AHEAD;
        if (i >= ROWS_AHEAD)
            score_word(file, rows[turn], counts[turn], chain->score[i - ROWS_AHEAD]);
        if (i >= count)
            continue;
        counts[turn] = tagger_features(chunk->reader.text, island, island->begin + i, rows[turn]);
        for (size_t f = 0; f < counts[turn]; f++) {
            rows[turn][f] >>= file->row_shift;
            __builtin_prefetch(file->weights + (size_t)rows[turn][f] * LABEL_COUNT);
        }
        chain->gap[i] = chunk->words[island->begin + i].gap;
    }
    chain->gap[count] = (uint8_t)chunk_gap_after(chunk, island->end - 1);
    chain_run(chain, &cursor->tagger->steps);
    weigh_labels(file, chain);
}

static float calibrated(const struct tagger_file *file, const float marginal[LABEL_COUNT])
{
    float p = 1 - marginal[LABEL_O];
    p = p < 1e-6f ? 1e-6f : p > 1 - 1e-6f ? 1 - 1e-6f : p;
    return 1 / (1 + expf(-(file->calibration_a * logf(p / (1 - p)) + file->calibration_b)));
}

/* From which probability of a name on the calibrated score is at least `score`: asked of every
 * word, so that no logarithm is taken for words that are no names. */
static float least_probability(const struct tagger_file *file, float score)
{
    if (score <= 0 || score >= 1)
        return score >= 1 ? 2 : 0;
    float logit = (logf(score / (1 - score)) - file->calibration_b) / file->calibration_a;
    return 1 / (1 + expf(-logit));
}

static void add_types(float sums[TAGGER_TYPE_COUNT], const float marginal[LABEL_COUNT])
{
    sums[TAGGER_PERSON] += marginal[LABEL_B_PERSON] + marginal[LABEL_I_PERSON];
    sums[TAGGER_PLACE] += marginal[LABEL_B_PLACE] + marginal[LABEL_I_PLACE];
    sums[TAGGER_ORG] += marginal[LABEL_B_ORG] + marginal[LABEL_I_ORG];
    sums[TAGGER_STREET] += marginal[LABEL_STREET];
}

/* Does the word belong to the same name as the word before it? */
static bool goes_on(const float before[LABEL_COUNT], const float marginal[LABEL_COUNT])
{
    float begin = marginal[LABEL_B_PERSON] + marginal[LABEL_B_PLACE] + marginal[LABEL_B_ORG];
    float inside = marginal[LABEL_I_PERSON] + marginal[LABEL_I_PLACE] + marginal[LABEL_I_ORG];
    bool street_before = before[LABEL_STREET] > 0.5f, street = marginal[LABEL_STREET] > 0.5f;
    return street_before || street ? street_before && street : inside >= begin;
}

/* The next name of the chain that was run last, from word *at on; words: its first one. */
static bool next_of_chain(const struct tagger_cursor *cursor, const struct tagger_word *words,
                          size_t *at, struct tagger_span *out)
{
    const struct tagger_file *file = &cursor->tagger->file;
    const struct chain *chain = &cursor->chain;
    size_t begin = *at;
    while (begin < chain->count && 1 - chain->marginal[begin][LABEL_O] < cursor->least)
        begin++;
    if (begin == chain->count)
        return false;
    float score = calibrated(file, chain->marginal[begin]);
    float sums[TAGGER_TYPE_COUNT] = {0}, total = score;
    add_types(sums, chain->marginal[begin]);
    size_t end = begin + 1;
    for (; end < chain->count && goes_on(chain->marginal[end - 1], chain->marginal[end]); end++) {
        if (1 - chain->marginal[end][LABEL_O] < cursor->least)
            break;
        score = calibrated(file, chain->marginal[end]);
        total += score;
        add_types(sums, chain->marginal[end]);
    }
    *at = end;
    enum tagger_type type = TAGGER_PERSON;
    for (int t = 1; t < TAGGER_TYPE_COUNT; t++)
        type = sums[t] > sums[type] ? (enum tagger_type)t : type;
    *out = (struct tagger_span){type, words[begin].begin, words[end - 1].end,
                                total / (float)(end - begin)};
    return true;
}

/* --- islands that were judged before --- */

static void recall(struct tagger_cursor *cursor, const struct tagger_memo_spans *found,
                   size_t begin)
{
    cursor->span_count = found->count;
    for (size_t i = 0; i < found->count; i++) {
        const struct tagger_memo_span *span = &found->span[i];
        cursor->spans[i] = (struct tagger_span){(enum tagger_type)span->type, begin + span->begin,
                                                begin + span->end, span->score};
    }
}

static void remember(const struct tagger_cursor *cursor, const struct tagger_memo_key *key,
                     size_t begin)
{
    struct tagger_memo_spans kept = {.count = (uint32_t)cursor->span_count};
    if (cursor->span_count > TAGGER_MEMO_SPANS)
        return;
    for (size_t i = 0; i < cursor->span_count; i++) {
        const struct tagger_span *span = &cursor->spans[i];
        kept.span[i] = (struct tagger_memo_span){(uint16_t)(span->begin - begin),
                                                 (uint16_t)(span->end - begin), (uint8_t)span->type,
                                                 span->score};
    }
    tagger_memo_keep(cursor->tagger->memo, key, &kept);
}

/* Finds the names of words[begin .. end). */
static void judge_island(struct tagger_cursor *cursor, size_t begin, size_t end)
{
    const struct tagger_chunk *chunk = &cursor->chunk;
    const struct tagger_island island = {chunk->words, chunk->count,     begin,
                                         end,          chunk->text_case, chunk->foreign};
    const struct tagger_word *words = chunk->words + begin;
    const struct tagger_memo_settings settings = {cursor->least, cursor->min_score,
                                                  (uint8_t)chunk_gap_after(chunk, end - 1)};
    struct tagger_memo *memo = cursor->tagger->memo;
    struct tagger_memo_key key;
    struct tagger_memo_spans found;
    const bool keyed = tagger_memo_key(memo, chunk->reader.text, &island, &settings, &key);
    cursor->span_at = 0;
    if (keyed && tagger_memo_find(memo, &key, &found)) {
        recall(cursor, &found, words->begin);
        return;
    }
    run_island(cursor, &island);
    cursor->span_count = 0;
    for (size_t at = 0; next_of_chain(cursor, words, &at, &cursor->spans[cursor->span_count]);)
        cursor->span_count++;
    if (keyed)
        remember(cursor, &key, words->begin);
}

/* --- one pass --- */

void tagger_begin(struct tagger_cursor *cursor, const struct tagger *tagger, struct td_str text,
                  float min_score)
{
    ASSERT(tagger != NULL);
    cursor->tagger = tagger;
    cursor->least = least_probability(&tagger->file, min_score);
    cursor->min_score = min_score;
    cursor->span_count = cursor->span_at = cursor->judged = 0;
    chunk_init(&cursor->chunk, &tagger->file, text);
}

bool tagger_next(struct tagger_cursor *cursor, struct tagger_span *out)
{
    for (;;) {
        if (cursor->span_at < cursor->span_count) {
            *out = cursor->spans[cursor->span_at++];
            return true;
        }
        size_t begin, end;
        if (!chunk_next(&cursor->chunk, &begin, &end))
            return false;
        const struct tagger_word *words = cursor->chunk.words;
        cursor->judged += end - begin;
        if (cursor->judged > TAGGER_WORDS_FREE + words[end - 1].end / TAGGER_WORD_BYTES) {
            cursor->judged -= end - begin;
            *out = (struct tagger_span){TAGGER_PERSON, words[begin].begin, words[end - 1].end,
                                        cursor->min_score};
            return true;
        }
        judge_island(cursor, begin, end);
    }
}
