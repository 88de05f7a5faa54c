/* Opening a classifier file and judging an utterance by it. Everything in the file is checked once,
 * so that scoring needs no checks. Scoring sums rows of signed bytes, one row for each n-gram, in
 * vectors of the compiler; the rest is a few hundred multiplications.
 *
 * Each text is also judged without its last words and without its first ones, against gadgets that
 * are appended to raise the gain (struct verdict). The pieces are summed once and combined three
 * times, so this costs little. */
#include "router/judge/classifier.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/text/utf8.h"
#include "router/judge/classifier_format.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct classifier {
    struct classifier_header header;
    struct classifier_parameters parameters;
    const int8_t *rows;
    void *mapping; /* NULL: the memory is borrowed */
    size_t mapping_bytes;
};

/* Takes floats and names off the file in order; the size was checked before. */
struct cursor {
    const unsigned char *at;
    bool finite;
};

static void take_floats(struct cursor *cursor, float *out, size_t count)
{
    memcpy(out, cursor->at, count * sizeof *out);
    cursor->at += count * sizeof *out;
    for (size_t i = 0; i < count; i++)
        cursor->finite = cursor->finite && isfinite(out[i]) && fabsf(out[i]) < 1e9f;
}

static enum td_status check_header(const struct classifier_header *header, size_t bytes,
                                   struct td_error *err)
{
    if (memcmp(header->magic, CLASSIFIER_MAGIC, sizeof header->magic) != 0)
        return error_set(err, TD_INVALID,
                         "not a router classifier: it does not begin with " CLASSIFIER_MAGIC);
    if (header->version != CLASSIFIER_VERSION)
        return error_set(err, TD_INVALID,
                         "classifier of format version %u, this program reads %u: train it again "
                         "with 'tandem router train'",
                         header->version, CLASSIFIER_VERSION);
    if (header->features_version != FEATURES_VERSION || header->dense != FEATURE_COUNT)
        return error_set(err, TD_INVALID,
                         "classifier for features of version %u (%u of them), this program has "
                         "version %u (%u): train it "
                         "again with 'tandem router train'",
                         header->features_version, header->dense, FEATURES_VERSION,
                         (unsigned)FEATURE_COUNT);
    if (header->bits < CLASSIFIER_BITS_MIN || header->bits > NGRAM_BITS_MAX ||
        header->tasks > CLASSIFIER_TASKS_MAX || header->outputs != OUTCOME_COUNT + header->tasks ||
        header->row_bytes != classifier_row_bytes(header->outputs))
        return error_set(
            err, TD_INVALID,
            "classifier header is broken: %u bits, %u tasks, %u outputs, rows of %u bytes",
            header->bits, header->tasks, header->outputs, header->row_bytes);
    size_t expected = classifier_rows_at(header->outputs, header->tasks) +
                      ((size_t)header->row_bytes << header->bits);
    if (bytes != expected)
        return error_set(
            err, TD_INVALID,
            "classifier has %zu bytes, its header says %zu: it is cut or was appended to", bytes,
            expected);
    return TD_OK;
}

static bool names_are_good(const struct classifier_parameters *p, size_t tasks)
{
    for (size_t i = 0; i < tasks; i++) {
        const char *name = p->task_name[i];
        if (name[CLASSIFIER_TASK_BYTES - 1] != '\0' || *name == '\0' ||
            !utf8_is_valid(str_from(name)))
            return false;
    }
    return true;
}

static bool read_parameters(const struct classifier_header *header, const unsigned char *at,
                            struct classifier_parameters *p)
{
    struct cursor cursor = {at, true};
    size_t outputs = header->outputs, tasks = header->tasks;
    take_floats(&cursor, p->scale, outputs + 1);
    take_floats(&cursor, p->bias, outputs);
    take_floats(&cursor, (float *)p->dense, outputs * FEATURE_COUNT);
    take_floats(&cursor, (float *)p->stack, OUTCOME_COUNT * (STACK_INPUTS + 1));
    take_floats(&cursor, (float *)p->platt, OUTCOME_COUNT * 2);
    take_floats(&cursor, &p->task_slope, 1);
    take_floats(&cursor, p->task_offset, tasks);
    take_floats(&cursor, (float *)p->task_mean, tasks * OUTCOME_COUNT);
    memcpy(p->task_name, cursor.at, tasks * CLASSIFIER_TASK_BYTES);
    return cursor.finite && names_are_good(p, tasks);
}

enum td_status classifier_read(const void *data, size_t bytes, struct classifier **out,
                               struct td_error *err)
{
    struct classifier_header header;
    if (bytes < sizeof header || bytes > CLASSIFIER_BYTES_MAX)
        return error_set(err, TD_INVALID,
                         "a router classifier has between %zu and %u bytes, this has %zu",
                         sizeof header, CLASSIFIER_BYTES_MAX, bytes);
    memcpy(&header, data, sizeof header);
    enum td_status status = check_header(&header, bytes, err);
    if (status != TD_OK)
        return status;
    const unsigned char *file = data;
    if (hash_words64(file + CLASSIFIER_HASHED_FROM, bytes - CLASSIFIER_HASHED_FROM) != header.hash)
        return error_set(err, TD_INVALID,
                         "classifier is damaged: its contents do not have the hash in its header");
    struct classifier *classifier = calloc(1, sizeof *classifier);
    if (!classifier)
        return error_set(err, TD_NO_MEMORY, "no memory for a classifier");
    classifier->header = header;
    if (!read_parameters(&header, file + sizeof header, &classifier->parameters)) {
        free(classifier);
        return error_set(err, TD_INVALID,
                         "classifier holds a value that is no number, or a broken task name");
    }
    classifier->rows = (const int8_t *)file + classifier_rows_at(header.outputs, header.tasks);
    *out = classifier;
    return TD_OK;
}

static enum td_status map_file(int fd, const char *path, void **data, size_t *bytes,
                               struct td_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size < CLASSIFIER_HEADER_BYTES ||
        info.st_size > (off_t)CLASSIFIER_BYTES_MAX)
        return error_set(err, TD_INVALID,
                         "%s: not a router classifier: no regular file of %d to %u bytes", path,
                         CLASSIFIER_HEADER_BYTES, CLASSIFIER_BYTES_MAX);
    *bytes = (size_t)info.st_size;
    *data = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (*data == MAP_FAILED)
        return error_set(err, TD_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    return TD_OK;
}

enum td_status classifier_open(const char *path, struct classifier **out, struct td_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set(err, errno == ENOENT ? TD_NOT_FOUND : TD_IO, "%s: %s", path,
                         strerror(errno));
    void *data = NULL;
    size_t bytes = 0;
    enum td_status status = map_file(fd, path, &data, &bytes, err);
    close(fd);
    if (status != TD_OK)
        return status;
    status = classifier_read(data, bytes, out, err);
    if (status != TD_OK) {
        munmap(data, bytes);
        error_prefix(err, "%s", path);
        return status;
    }
    /* The check has read all of it, a prompt reads little: that comes back when it is used. */
    (void)madvise(data, bytes, MADV_DONTNEED);
    (*out)->mapping = data;
    (*out)->mapping_bytes = bytes;
    return TD_OK;
}

void classifier_close(struct classifier *classifier)
{
    if (!classifier)
        return;
    if (classifier->mapping)
        munmap(classifier->mapping, classifier->mapping_bytes);
    free(classifier);
}

size_t classifier_task_count(const struct classifier *classifier)
{
    return classifier->header.tasks;
}

const char *classifier_task_name(const struct classifier *classifier, size_t task)
{
    ASSERT(task < classifier_task_count(classifier));
    return task < classifier->header.tasks ? classifier->parameters.task_name[task] : NULL;
}

uint64_t classifier_hash(const struct classifier *classifier)
{
    return classifier->header.hash;
}

bool classifier_has(const struct classifier *classifier, enum outcome outcome)
{
    return classifier->header.trained >> outcome & 1;
}

/* --- scoring --- */

typedef int8_t row_part __attribute__((vector_size(16)));
typedef int16_t wide_part __attribute__((vector_size(32)));
#define PARTS_MAX 4
_Static_assert(PARTS_MAX * 16 >= CLASSIFIER_OUTPUTS_MAX + 1, "the widest row");
/* Rows that are added in 16 bits before the sum could overflow: 255 * 128 < 2^15. */
#define SUM_ROWS 255
/* Rows that are on their way from the outer caches meanwhile. */
#define ROWS_AHEAD 16

static void add_wide(const wide_part sum[PARTS_MAX], size_t parts, int32_t *out)
{
    for (size_t part = 0; part < parts; part++)
        for (size_t i = 0; i < 16; i++)
            out[part * 16 + i] += sum[part][i];
}

/* Sums the rows of `count` buckets. */
static inline void sum_rows(const int8_t *rows, size_t parts, const uint32_t *buckets, size_t count,
                            int32_t *out)
{
    memset(out, 0, PARTS_MAX * 16 * sizeof *out);
    for (size_t begin = 0; begin < count; begin += SUM_ROWS) {
        wide_part sum[PARTS_MAX] = {{0}};
        size_t end = count - begin < SUM_ROWS ? count : begin + SUM_ROWS;
        for (size_t i = begin; i < end; i++) {
            const int8_t *row = rows + (size_t)buckets[i] * parts * 16;
            if (i + ROWS_AHEAD < count)
                __builtin_prefetch(rows + (size_t)buckets[i + ROWS_AHEAD] * parts * 16);
            for (size_t part = 0; part < parts; part++) {
                row_part bytes;
                memcpy(&bytes, row + part * 16, sizeof bytes);
                sum[part] += __builtin_convertvector(bytes, wide_part);
            }
        }
        add_wide(sum, parts, out);
    }
}

/* The number of parts as a constant, so that the sums stay in registers. */
static void sum_rows_of(const int8_t *rows, size_t parts, const uint32_t *buckets, size_t count,
                        int32_t *out)
{
    switch (parts) {
    case 1:
        sum_rows(rows, 1, buckets, count, out);
        break;
    case 2:
        sum_rows(rows, 2, buckets, count, out);
        break;
    case 3:
        sum_rows(rows, 3, buckets, count, out);
        break;
    default:
        sum_rows(rows, 4, buckets, count, out);
        break;
    }
}

/* The rows of what occurs first in each piece of the text, summed. */
struct piece_sums {
    int32_t words[NGRAM_PIECES][PARTS_MAX * 16], bytes[NGRAM_PIECES][PARTS_MAX * 16];
};

static void sum_pieces(const struct classifier *classifier, const struct ngrams *ngrams,
                       struct piece_sums *out)
{
    size_t parts = classifier->header.row_bytes / 16, word = 0, byte = ngrams->word_count;
    for (size_t piece = 0; piece < NGRAM_PIECES; piece++) {
        sum_rows_of(classifier->rows, parts, ngrams->bucket + word, ngrams->word_end[piece] - word,
                    out->words[piece]);
        sum_rows_of(classifier->rows, parts, ngrams->bucket + byte, ngrams->byte_end[piece] - byte,
                    out->bytes[piece]);
        word = ngrams->word_end[piece];
        byte = ngrams->byte_end[piece];
    }
}

/* Adds the score of the pieces from..to, divided by their length. */
static void add_part(const struct classifier *classifier,
                     const int32_t sums[NGRAM_PIECES][PARTS_MAX * 16], size_t from, size_t to,
                     float *scores)
{
    const struct classifier_parameters *p = &classifier->parameters;
    int32_t all[PARTS_MAX * 16] = {0};
    for (size_t piece = from; piece < to; piece++)
        for (size_t k = 0; k <= classifier->header.outputs; k++)
            all[k] += sums[piece][k];
    float squares = (float)all[0] * p->scale[0];
    if (!(squares > 0))
        return;
    float by = 1 / sqrtf(squares);
    for (size_t k = 0; k < classifier->header.outputs; k++)
        scores[k] += by * (float)all[k + 1] * p->scale[k + 1];
}

void classifier_task_probabilities(const struct classifier_parameters *p, size_t tasks,
                                   const float *scores, float *task_p)
{
    float highest = -INFINITY, sum = 0;
    for (size_t t = 0; t < tasks; t++) {
        task_p[t] = p->task_slope * scores[OUTCOME_COUNT + t] + p->task_offset[t];
        highest = fmaxf(highest, task_p[t]);
    }
    for (size_t t = 0; t < tasks; t++)
        sum += task_p[t] = expf(task_p[t] - highest);
    for (size_t t = 0; t < tasks; t++)
        task_p[t] /= sum;
}

void classifier_stack_inputs(const struct classifier_parameters *p, size_t tasks,
                             const float *scores, const float *task_p,
                             float inputs[static STACK_INPUTS])
{
    for (size_t o = 0; o < OUTCOME_COUNT; o++) {
        inputs[o] = scores[o];
        inputs[OUTCOME_COUNT + o] = 0;
        for (size_t t = 0; t < tasks; t++)
            inputs[OUTCOME_COUNT + o] += task_p[t] * p->task_mean[t][o];
    }
}

static float outcome_of(const struct classifier *classifier, enum outcome outcome,
                        const float *inputs)
{
    const struct classifier_parameters *p = &classifier->parameters;
    if (!classifier_has(classifier, outcome))
        return NAN;
    float z = p->stack[outcome][STACK_INPUTS];
    for (size_t i = 0; i < STACK_INPUTS; i++)
        z += p->stack[outcome][i] * inputs[i];
    z = p->platt[outcome][0] * z + p->platt[outcome][1];
    return 1 / (1 + expf(-z));
}

/* What the pieces from..to say, with the dense features of just these. */
static void judge_pieces(const struct classifier *classifier, const struct piece_sums *sums,
                         size_t from, size_t to, const struct features *features,
                         struct verdict *out)
{
    const struct classifier_parameters *p = &classifier->parameters;
    size_t tasks = classifier->header.tasks;
    float scores[CLASSIFIER_OUTPUTS_MAX], inputs[STACK_INPUTS];
    for (size_t k = 0; k < classifier->header.outputs; k++) {
        scores[k] = p->bias[k];
        for (size_t f = 0; f < FEATURE_COUNT; f++)
            scores[k] += p->dense[k][f] * features->value[f];
    }
    add_part(classifier, sums->words, from, to, scores);
    add_part(classifier, sums->bytes, from, to, scores);
    out->task = SIZE_MAX;
    out->task_p = 0;
    classifier_task_probabilities(p, tasks, scores, out->task_probability);
    for (size_t t = 0; t < tasks; t++) {
        if (out->task == SIZE_MAX || out->task_probability[t] > out->task_p) {
            out->task = t;
            out->task_p = out->task_probability[t];
        }
    }
    classifier_stack_inputs(p, tasks, scores, out->task_probability, inputs);
    out->p_local = outcome_of(classifier, OUTCOME_LOCAL, inputs);
    out->p_strong = outcome_of(classifier, OUTCOME_STRONG, inputs);
    out->gain = (isnan(out->p_strong) ? 1 : out->p_strong) - out->p_local; /* NAN when that is */
}

/* --- what one end of a text raises alone --- */

/* Ten words of a gadget have some 75 bytes. Of a short text only a part is left out, so that its
 * beginning, where people say what is to be done, still counts; what is shorter than a gadget is
 * not looked at. */
#define END_BYTES 96
#define TAIL_SHARE_MAX 0.6
#define TAIL_FROM_BYTES 64
#define HEAD_FROM_BYTES (2 * END_BYTES)
/* Less is what leaving something out does to any text. */
#define END_GAIN 0.25f
/* Of longer texts the dense features (shares and logarithms) are nearly the same without an end,
 * and are not read again. */
#define FEATURES_ALIKE_BYTES 512

/* The next blank, or the next character when no word ends soon. */
static size_t cut_after(const struct utterance *utterance, size_t at)
{
    const size_t word_bytes_max = 24;
    size_t blank = at;
    while (blank < utterance->len && utterance->text[blank] != ' ' &&
           utterance->text[blank] != '\n')
        if (++blank - at == word_bytes_max)
            break;
    if (blank - at == word_bytes_max)
        for (blank = at; blank < utterance->len && (utterance->text[blank] & 0xC0) == 0x80;)
            blank++;
    return blank;
}

static void find_ends(const struct utterance *utterance, size_t cuts[static NGRAM_PIECES - 1])
{
    size_t len = utterance->len, most = (size_t)((double)len * TAIL_SHARE_MAX);
    cuts[0] = len >= HEAD_FROM_BYTES ? cut_after(utterance, END_BYTES) : 0;
    cuts[1] = len >= TAIL_FROM_BYTES
                  ? cut_after(utterance, len - (most < END_BYTES ? most : END_BYTES))
                  : len;
    if (cuts[0] > cuts[1])
        cuts[0] = cuts[1];
}

static void read_features_between(const struct utterance *utterance, size_t from, size_t to,
                                  struct features *out)
{
    struct utterance part = *utterance;
    part.len = to - from;
    memmove(part.text, part.text + from, part.len);
    memset(part.text + part.len, 0, UTTERANCE_SLACK);
    features_read(&part, out);
}

void classifier_judge(const struct classifier *classifier, const struct utterance *utterance,
                      const struct features *features, struct classifier_work *work,
                      struct verdict *out)
{
    struct piece_sums sums;
    size_t cuts[NGRAM_PIECES - 1];
    find_ends(utterance, cuts);
    ngrams_read_pieces(utterance, classifier->header.bits, cuts, &work->ngrams);
    sum_pieces(classifier, &work->ngrams, &sums);
    judge_pieces(classifier, &sums, 0, NGRAM_PIECES, features, out);
    float whole = out->gain_whole = out->gain;
    for (size_t end = 0; end < 2 && whole > END_GAIN; end++) {
        size_t from = end ? cuts[0] : 0, to = end ? utterance->len : cuts[1];
        struct verdict without;
        if (from == 0 && to == utterance->len)
            continue;
        const struct features *rest = features;
        if (utterance->len <= FEATURES_ALIKE_BYTES) {
            read_features_between(utterance, from, to, &work->features);
            rest = &work->features;
        }
        judge_pieces(classifier, &sums, end, NGRAM_PIECES - 1 + end, rest, &without);
        if (without.gain < out->gain && whole - without.gain > END_GAIN) {
            out->gain = without.gain;
            out->p_local = without.p_local;
            out->p_strong = without.p_strong;
        }
    }
}
