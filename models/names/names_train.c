/* Trains names.bin: a linear-chain CRF by stochastic gradient with AdaGrad (Duchi et al. 2011,
 * figure 1, diagonal), on islands of texts as the product reads them.
 *
 *   names_train LEXICON TRAIN OUT LOG2-OF-ROWS EPOCHS DROP ORG-COST CALIBRATED DEV...
 *
 * LEXICON: word TAB classes. TRAIN, DEV: text TAB spans, a span is begin:end:label in bytes with
 * the number of its first label in tagger_file.h; \n and \\ are written so. Words of names are
 * hidden at random while training (their identity and what the lexicon says), so that neighbours
 * and endings are learned too: most names of the world are in no list. ORG-COST is what an
 * organisation that is missed counts beside a person or a place. The scores are calibrated on the
 * DEV texts where CALIBRATED is "-", else as in that names file; all DEV texts are measured. */
#include "base/crypto/hash.h"
#include "privacy/names/tagger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (1u << 17)
#define LABELS_MAX 64
#define STEPS_A_SECOND 0.08f /* AdaGrad's rate */

struct label_span {
    size_t begin, end;
    enum tagger_label first;
};

struct example {
    struct td_str text;
    struct label_span *spans;
    size_t span_count;
};

struct examples {
    struct example *items;
    size_t count;
};

struct trainer {
    struct tagger_file file; /* lexicon only while training */
    uint32_t lexicon[SLOTS];
    size_t rows;
    uint32_t drop;            /* of 100 features of a word, so many are not seen in a step */
    float *weights, *squares; /* [rows][LABEL_COUNT] */
    float transitions[GAP_COUNT][LABEL_COUNT][LABEL_COUNT];
    float transition_squares[GAP_COUNT][LABEL_COUNT][LABEL_COUNT];
    uint64_t random;
    double likelihood;
    size_t words, lost, wanted; /* gold words outside all islands; gold words */
};

static void die(const char *what, const char *which)
{
    fprintf(stderr, "names_train: %s %s\n", what, which);
    exit(1);
}

static void *take(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (block == NULL)
        die("no memory for", "training");
    return block;
}

static uint32_t draw(struct trainer *trainer)
{
    trainer->random += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    return (uint32_t)(hash_mix64(trainer->random) >> 32);
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        die("cannot open", path);
    fseek(file, 0, SEEK_END);
    long len = ftell(file);
    rewind(file);
    char *data = take((size_t)len + 1, 1);
    if (fread(data, 1, (size_t)len, file) != (size_t)len)
        die("cannot read", path);
    fclose(file);
    return data;
}

static void add_word(struct trainer *trainer, const char *text, uint16_t classes)
{
    struct tagger_reader reader;
    struct tagger_word word;
    tagger_reader_init(&reader, (struct td_str){text, strlen(text)});
    if (!tagger_read(&reader, &word) || word.end != strlen(text))
        return; /* of several words, or none: the caller splits */
    uint32_t slot = word.hash & (SLOTS - 1);
    while (trainer->lexicon[slot] != 0 && trainer->lexicon[slot] >> 16 != word.hash >> 16)
        slot = (slot + 1) & (SLOTS - 1);
    trainer->lexicon[slot] |= (word.hash & 0xffff0000u) | classes;
}

static void read_lexicon(struct trainer *trainer, const char *path)
{
    char *data = read_all(path), *save = NULL;
    size_t count = 0;
    for (char *line = strtok_r(data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *tab = strchr(line, '\t');
        if (tab == NULL)
            die("no tab in a line of", path);
        *tab = '\0';
        add_word(trainer, line, (uint16_t)strtoul(tab + 1, NULL, 10));
        count++;
    }
    free(data);
    size_t used = 0;
    for (size_t i = 0; i < SLOTS; i++)
        used += trainer->lexicon[i] != 0;
    fprintf(stderr, "lexicon: %zu words, %zu of %u slots\n", count, used, SLOTS);
    if (used > SLOTS * 3 / 4)
        die("too many words in", path);
}

static struct td_str unescape(char *text)
{
    char *out = text;
    const char *begin = text;
    for (; *text; text++)
        *out++ = *text != '\\' ? *text : *++text == 'n' ? '\n' : '\\';
    return (struct td_str){begin, (size_t)(out - begin)};
}

static struct examples read_examples(const char *path)
{
    char *data = read_all(path), *save = NULL; /* stays: the texts are in it */
    size_t capacity = 1;
    for (const char *p = data; *p; p++)
        capacity += *p == '\n';
    struct examples all = {take(capacity, sizeof *all.items), 0};
    for (char *line = strtok_r(data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        struct example *example = &all.items[all.count++];
        char *tab = strchr(line, '\t');
        if (tab == NULL)
            die("no tab in a line of", path);
        *tab = '\0';
        example->text = unescape(line);
        example->spans = take(LABELS_MAX, sizeof *example->spans);
        int used = 0;
        unsigned first;
        size_t begin, end;
        for (const char *p = tab + 1; example->span_count < LABELS_MAX &&
                                      sscanf(p, "%zu:%zu:%u%n", &begin, &end, &first, &used) == 3;
             p += used + (p[used] == ' '))
            example->spans[example->span_count++] =
                (struct label_span){begin, end, (enum tagger_label)first};
        example->spans =
            realloc(example->spans, (example->span_count + 1) * sizeof *example->spans);
    }
    return all;
}

static enum tagger_label gold_of(const struct example *example, const struct tagger_word *word,
                                 const struct tagger_word *before)
{
    for (size_t i = 0; i < example->span_count; i++) {
        const struct label_span *span = &example->spans[i];
        if (word->begin >= span->end || word->end <= span->begin)
            continue;
        bool inside = before != NULL && before->end > span->begin && before->begin >= span->begin;
        return span->first == LABEL_STREET ? LABEL_STREET
                                           : (enum tagger_label)(span->first + (inside ? 1 : 0));
    }
    return LABEL_O;
}

/* A copy of the island and its surroundings, some words of names unknown. */
struct island {
    struct tagger_word words[CHAIN_MAX + 2 * TAGGER_REACH];
    size_t count, first, length;
};

static void copy_island(struct trainer *trainer, const struct tagger_chunk *chunk, size_t begin,
                        size_t end, struct island *island)
{
    size_t from = begin > TAGGER_REACH ? begin - TAGGER_REACH : 0;
    size_t to = end + TAGGER_REACH < chunk->count ? end + TAGGER_REACH : chunk->count;
    island->count = to - from;
    island->first = begin - from;
    island->length = end - begin;
    memcpy(island->words, chunk->words + from, island->count * sizeof island->words[0]);
    uint32_t hide = draw(trainer) % 3 == 0 ? 60 : 12; /* of 100 words */
    for (size_t i = 0; i < island->count; i++) {
        struct tagger_word *word = &island->words[i];
        bool name = (word->classes & CLASSES_OF_NAMES) || word->classes == 0;
        if (name && draw(trainer) % 100 < hide) {
            word->classes &= (uint16_t)~CLASSES_OF_NAMES;
            word->hash = 0;
        }
    }
}

static void ascend(float *weight, float *square, float gradient)
{
    *square += gradient * gradient;
    *weight += STEPS_A_SECOND * gradient / sqrtf(*square + 1e-3f);
}

static void learn_transitions(struct trainer *trainer, const struct chain *chain,
                              const enum tagger_label *gold, const struct chain_steps *steps)
{
    for (size_t i = 0; i <= chain->count; i++) {
        float pair[LABEL_COUNT][LABEL_COUNT], sum = 0;
        uint8_t gap = chain->gap[i];
        for (size_t k = 0; k < LABEL_COUNT; k++)
            for (size_t l = 0; l < LABEL_COUNT; l++) {
                float before = i == 0 ? (k == LABEL_O) : chain->forward[i - 1][k];
                float behind =
                    i == chain->count ? (l == LABEL_O) : chain->score[i][l] * chain->backward[i][l];
                sum += pair[k][l] = before * steps->forward[gap][k][l] * behind;
            }
        enum tagger_label gold_before = i == 0 ? LABEL_O : gold[i - 1];
        enum tagger_label gold_here = i == chain->count ? LABEL_O : gold[i];
        for (size_t k = 0; k < LABEL_COUNT && sum > 0; k++)
            for (size_t l = 0; l < LABEL_COUNT; l++) {
                float gradient = (k == gold_before && l == gold_here) - pair[k][l] / sum;
                if (chain_allowed((enum tagger_label)k, (enum tagger_label)l) &&
                    fabsf(gradient) > 1e-5f)
                    ascend(&trainer->transitions[gap][k][l],
                           &trainer->transition_squares[gap][k][l], gradient);
            }
    }
}

static void learn_island(struct trainer *trainer, const struct tagger_chunk *chunk, size_t begin,
                         size_t end, const enum tagger_label *gold, struct chain_steps *steps)
{
    static struct chain chain;
    static struct island island;
    static uint32_t features[CHAIN_MAX][TAGGER_FEATURES_MAX];
    size_t counts[CHAIN_MAX];
    copy_island(trainer, chunk, begin, end, &island);
    chain.count = end - begin;
    const struct tagger_island view = {island.words,     island.count,
                                       island.first,     island.first + chain.count,
                                       chunk->text_case, chunk->foreign};
    double gold_score = 0;
    for (size_t i = 0; i < chain.count; i++) {
        counts[i] = tagger_features(chunk->reader.text, &view, view.begin + i, features[i]);
        size_t kept = 0;
        for (size_t f = 0; f < counts[i]; f++) {
            features[i][kept] = features[i][f];
            kept += draw(trainer) % 100 >= trainer->drop;
        }
        counts[i] = kept;
        memset(chain.score[i], 0, sizeof chain.score[i]);
        for (size_t f = 0; f < counts[i]; f++) {
            features[i][f] >>= trainer->file.row_shift;
            const float *row = trainer->weights + (size_t)features[i][f] * LABEL_COUNT;
            for (size_t l = 0; l < LABEL_COUNT; l++)
                chain.score[i][l] += row[l];
        }
        chain.gap[i] = chunk->words[begin + i].gap;
        gold_score += (double)chain.score[i][gold[i]] +
                      (double)trainer->transitions[chain.gap[i]][i ? gold[i - 1] : 0][gold[i]];
    }
    chain.gap[chain.count] = (uint8_t)chunk_gap_after(chunk, end - 1);
    gold_score +=
        (double)trainer->transitions[chain.gap[chain.count]][gold[chain.count - 1]][LABEL_O];
    for (size_t i = 0; i <= chain.count; i++)
        for (size_t k = 0; k < LABEL_COUNT; k++)
            for (size_t l = 0; l < LABEL_COUNT; l++)
                chain_steps_set(steps, chain.gap[i], (enum tagger_label)k, (enum tagger_label)l,
                                trainer->transitions[chain.gap[i]][k][l]);
    chain_run(&chain, steps);
    trainer->likelihood += gold_score - chain_likelihood(&chain, steps);
    trainer->words += chain.count;
    for (size_t i = 0; i < chain.count; i++)
        for (size_t l = 0; l < LABEL_COUNT; l++) {
            float gradient = (gold[i] == l) - chain.marginal[i][l];
            if (fabsf(gradient) < 1e-4f)
                continue;
            for (size_t f = 0; f < counts[i]; f++) {
                size_t at = (size_t)features[i][f] * LABEL_COUNT + l;
                ascend(&trainer->weights[at], &trainer->squares[at], gradient);
            }
        }
    learn_transitions(trainer, &chain, gold, steps);
}

static void learn_example(struct trainer *trainer, const struct example *example)
{
    static struct tagger_chunk chunk;
    static struct chain_steps steps;
    size_t begin, end, done = 0;
    chunk_init(&chunk, &trainer->file, example->text);
    while (chunk_next(&chunk, &begin, &end)) {
        enum tagger_label gold[CHAIN_MAX];
        bool broken = false;
        for (size_t i = begin; i < end; i++) {
            const struct tagger_word *before = i > 0 ? &chunk.words[i - 1] : NULL;
            gold[i - begin] = gold_of(example, &chunk.words[i], before);
            /* A name whose first word no island has begins where the island does. */
            if (i == begin && !chain_allowed(LABEL_O, gold[0]))
                gold[0] = (enum tagger_label)(gold[0] - 1), broken = true;
            trainer->wanted += gold[i - begin] != LABEL_O;
        }
        done += broken;
        learn_island(trainer, &chunk, begin, end, gold, &steps);
    }
    trainer->lost += done;
}

static void shuffle(struct trainer *trainer, struct examples *examples)
{
    for (size_t i = examples->count; i-- > 1;) {
        size_t j = draw(trainer) % (i + 1);
        struct example swap = examples->items[i];
        examples->items[i] = examples->items[j];
        examples->items[j] = swap;
    }
}

static float largest(const float *values, size_t count)
{
    float max = 1e-6f;
    for (size_t i = 0; i < count; i++)
        max = fabsf(values[i]) > max ? fabsf(values[i]) : max;
    return max;
}

static void quantise(const float *values, size_t count, float step, int8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        float steps = roundf(values[i] / step);
        out[i] = (int8_t)(steps > 127 ? 127 : steps < -127 ? -127 : steps);
    }
}

/* All features speak when the product runs, and spoke in part while they learned: a weight is worth
 * what it was on average (Srivastava et al. 2014, Dropout, section 4). */
static void undo_drop(struct trainer *trainer)
{
    for (size_t i = 0; i < trainer->rows * LABEL_COUNT; i++)
        trainer->weights[i] *= (float)(100 - trainer->drop) / 100;
}

/* What is chosen on the development texts. */
struct tuning {
    float calibration[2];
    float type_costs[TAGGER_TYPE_COUNT];
};

static unsigned char *make_file(const struct trainer *trainer, const struct tuning *tuning,
                                size_t *len)
{
    size_t transitions = sizeof trainer->transitions / sizeof(float);
    size_t weights = trainer->rows * LABEL_COUNT;
    *len = TAGGER_HEADER_BYTES + transitions + sizeof trainer->lexicon + weights;
    unsigned char *data = take(*len, 1), *body = data + TAGGER_HEADER_BYTES;
    /* The few largest weights are cut at 4: a step of 1/32 for all others. */
    float largest_weight = largest(trainer->weights, weights);
    float step = (largest_weight > 4 ? 4 : largest_weight) / 127;
    float transition_step = largest(&trainer->transitions[0][0][0], transitions) / 127;
    uint32_t head[4] = {TAGGER_VERSION, SLOTS, (uint32_t)trainer->rows, 0};
    memcpy(data, TAGGER_MAGIC, 8);
    memcpy(data + 8, head, 12);
    memcpy(data + 20, &step, 4);
    memcpy(data + 24, &transition_step, 4);
    memcpy(data + 28, tuning->calibration, sizeof tuning->calibration);
    memcpy(data + 48, tuning->type_costs, sizeof tuning->type_costs);
    quantise(&trainer->transitions[0][0][0], transitions, transition_step, (int8_t *)body);
    memcpy(body + transitions, trainer->lexicon, sizeof trainer->lexicon);
    quantise(trainer->weights, weights, step,
             (int8_t *)body + transitions + sizeof trainer->lexicon);
    uint64_t hash = hash_words64(body, *len - TAGGER_HEADER_BYTES);
    memcpy(data + 40, &hash, 8);
    return data;
}

struct count {
    size_t right, wanted, given, as_any; /* as_any: found, of whatever type */
};

static void print_count(const char *name, struct count count)
{
    double precision = count.given ? (double)count.right / (double)count.given : 0;
    double recall = count.wanted ? (double)count.right / (double)count.wanted : 0;
    double as_any = count.wanted ? (double)count.as_any / (double)count.wanted : 0;
    printf("  %-12s words %6zu  P %.3f  R %.3f  as any type %.3f\n", name, count.wanted, precision,
           recall, as_any);
}

/* One (logit, is a name) a word that stands in an island, and what was found by type. */
struct measure {
    struct count types[TAGGER_TYPE_COUNT], any;
    size_t words;
    float *logits;
    bool *truths;
    size_t pair_count, pair_capacity;
};

static int type_of(enum tagger_label label)
{
    return label == LABEL_O ? -1 : ((int)label - 1) / 2;
}

static void add_pairs(struct measure *measure, const struct tagger_cursor *cursor,
                      const struct example *example)
{
    for (size_t i = 0; i < cursor->chain.count; i++) {
        const float *marginal = cursor->chain.marginal[i];
        const struct tagger_word *word = &cursor->chunk.words[cursor->island + i];
        float p = 1 - marginal[LABEL_O];
        p = p < 1e-6f ? 1e-6f : p > 1 - 1e-6f ? 1 - 1e-6f : p;
        if (measure->pair_count == measure->pair_capacity) {
            measure->pair_capacity = measure->pair_capacity * 2 + 1024;
            measure->logits =
                realloc(measure->logits, measure->pair_capacity * sizeof *measure->logits);
            measure->truths =
                realloc(measure->truths, measure->pair_capacity * sizeof *measure->truths);
        }
        measure->logits[measure->pair_count] = logf(p / (1 - p));
        measure->truths[measure->pair_count++] = type_of(gold_of(example, word, NULL)) >= 0;
    }
}

static void measure_example(const struct tagger *tagger, const struct example *example,
                            float min_score, struct measure *measure)
{
    static struct tagger_cursor cursor;
    static struct tagger_span found[4096];
    size_t found_count = 0, island = SIZE_MAX, count_before = 0;
    tagger_begin(&cursor, tagger, example->text, min_score);
    while (found_count < 4096 && tagger_next(&cursor, &found[found_count])) {
        if (cursor.island != island || cursor.chain.count != count_before)
            add_pairs(measure, &cursor, example);
        island = cursor.island;
        count_before = cursor.chain.count;
        found_count++;
    }
    struct tagger_reader reader;
    struct tagger_word word;
    tagger_reader_init(&reader, example->text);
    while (tagger_read(&reader, &word)) {
        int want = type_of(gold_of(example, &word, NULL)), give = -1;
        for (size_t i = 0; i < found_count; i++)
            if (word.begin < found[i].end && word.end > found[i].begin)
                give = (int)found[i].type;
        for (int t = 0; t < TAGGER_TYPE_COUNT; t++) {
            measure->types[t].wanted += want == t;
            measure->types[t].given += give == t;
            measure->types[t].right += want == t && give == t;
            measure->types[t].as_any += want == t && give >= 0;
        }
        measure->words++;
        measure->any.wanted += want >= 0;
        measure->any.given += give >= 0;
        measure->any.right += want >= 0 && give == want;
        measure->any.as_any += want >= 0 && give >= 0;
    }
}

static void free_measure(struct measure *measure)
{
    free(measure->logits);
    free(measure->truths);
}

struct dev_set {
    const char *path;
    struct examples examples;
};

struct dev_sets {
    struct dev_set *items;
    size_t count;
};

static void print_measure(const char *path, float min_score, const struct measure *measure)
{
    static const char *const names[] = {"person", "place", "organisation", "street"};
    size_t wrong = measure->any.given - measure->any.as_any;
    printf("%s at %.2f: of 1,000 words that are in no name %.1f found\n", path, (double)min_score,
           1000 * (double)wrong / (double)(measure->words - measure->any.wanted));
    if (measure->any.wanted == 0)
        return;
    for (int t = 0; t < TAGGER_TYPE_COUNT; t++)
        print_count(names[t], measure->types[t]);
    print_count("all", measure->any);
}

/* All sets together; each is printed when `print`. The caller frees logits and truths. */
static struct measure measure_all(const struct trainer *trainer, const struct dev_sets *sets,
                                  float min_score, const struct tuning *tuning, bool print)
{
    size_t len;
    unsigned char *data = make_file(trainer, tuning, &len);
    struct tagger *tagger;
    struct td_error err = {0};
    struct measure all = {0};
    if (tagger_open_memory(data, len, "trained", &tagger, &err) != TD_OK)
        die("the trained file is refused:", err.message);
    for (size_t s = 0; s < sets->count; s++) {
        struct measure alone = {0};
        const struct examples *examples = &sets->items[s].examples;
        for (size_t i = 0; i < examples->count; i++) {
            measure_example(tagger, &examples->items[i], min_score, print ? &alone : &all);
        }
        if (print)
            print_measure(sets->items[s].path, min_score, &alone);
        free_measure(&alone);
    }
    tagger_close(tagger);
    free(data);
    return all;
}

/* a, b of sigmoid(a x + b) by gradient ascent on the likelihood; the function is concave. */
static void calibrate(const struct measure *measure, float calibration[2])
{
    double a = 1, b = 0;
    for (int round = 0; round < 2000; round++) {
        double by_a = 0, by_b = 0;
        for (size_t i = 0; i < measure->pair_count; i++) {
            double x = (double)measure->logits[i];
            double rest = measure->truths[i] - 1 / (1 + exp(-(a * x + b)));
            by_a += rest * x;
            by_b += rest;
        }
        a += 0.05 * by_a / (double)measure->pair_count;
        b += 0.5 * by_b / (double)measure->pair_count;
    }
    calibration[0] = (float)a;
    calibration[1] = (float)b;
    printf("calibration: a %.3f b %.3f from %zu words\n", a, b, measure->pair_count);
}

/* As they stand in a names file that was made where some names were left out: what one sees of
 * names that are in no list tells more of other texts. */
static void read_calibration(const char *path, float calibration[2])
{
    struct tagger_file file;
    struct td_error err = {0};
    if (tagger_file_open(path, &file, &err) != TD_OK)
        die("no calibration:", err.message);
    calibration[0] = file.calibration_a;
    calibration[1] = file.calibration_b;
    tagger_file_close(&file);
}

static struct dev_sets read_dev_sets(char **paths, size_t count)
{
    struct dev_sets sets = {take(count, sizeof *sets.items), count};
    for (size_t i = 0; i < count; i++)
        sets.items[i] = (struct dev_set){paths[i], read_examples(paths[i])};
    return sets;
}

int main(int argc, char **argv)
{
    if (argc < 10)
        die("usage: names_train LEXICON TRAIN OUT LOG2-OF-ROWS EPOCHS DROP ORG-COST CALIBRATED "
            "DEV...",
            "");
    struct trainer *trainer = take(1, sizeof *trainer);
    int bits = atoi(argv[4]), epochs = atoi(argv[5]);
    trainer->drop = (uint32_t)atoi(argv[6]);
    trainer->rows = (size_t)1 << bits;
    trainer->file.lexicon = trainer->lexicon;
    trainer->file.lexicon_mask = SLOTS - 1;
    trainer->file.row_shift = 32 - (uint32_t)bits;
    trainer->weights = take(trainer->rows * LABEL_COUNT, sizeof(float));
    trainer->squares = take(trainer->rows * LABEL_COUNT, sizeof(float));
    trainer->random = 20240607;
    read_lexicon(trainer, argv[1]);
    struct examples train = read_examples(argv[2]);
    struct dev_sets sets = read_dev_sets(argv + 9, (size_t)argc - 9);
    for (int epoch = 0; epoch < epochs; epoch++) {
        trainer->likelihood = 0;
        trainer->words = trainer->lost = trainer->wanted = 0;
        shuffle(trainer, &train);
        for (size_t i = 0; i < train.count; i++)
            learn_example(trainer, &train.items[i]);
        printf("epoch %d: log likelihood a word %.4f, %zu words of %zu texts in islands, %zu of "
               "names\n",
               epoch + 1, trainer->likelihood / (double)trainer->words, trainer->words, train.count,
               trainer->wanted);
        fflush(stdout);
    }
    undo_drop(trainer);
    struct tuning tuning = {{1, 0}, {1, 1, 1, 1}};
    struct measure measure = measure_all(trainer, &sets, 0.0f, &tuning, false);
    calibrate(&measure, tuning.calibration);
    free_measure(&measure);
    if (strcmp(argv[8], "-") != 0)
        read_calibration(argv[8], tuning.calibration);
    tuning.type_costs[TAGGER_ORG] = strtof(argv[7], NULL);
    for (int percent = 20; percent <= 80; percent += 15)
        measure_all(trainer, &sets, (float)percent / 100, &tuning, true);
    size_t len;
    unsigned char *data = make_file(trainer, &tuning, &len);
    FILE *out = fopen(argv[3], "wb");
    if (out == NULL || fwrite(data, 1, len, out) != len || fclose(out) != 0)
        die("cannot write", argv[3]);
    printf("%s: %zu bytes\n", argv[3], len);
    return 0;
}
