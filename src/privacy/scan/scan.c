/* The one pass, which looks at every character once. Detectors are asked at each character that can
 * begin a finding, and at '@' and '=', which stand inside one. Each detector reads a bounded
 * stretch of text, so the time is linear for any text. Private keys and tokens may be long, so the
 * pass goes on after them. Most words of prose concern no detector; they are skipped eight bytes at
 * a time. */
#include "privacy/scan/scan.h"

#include "base/core/assertion.h"
#include "privacy/detect/seed_words.h"
#include "privacy/scan/encoded.h"
#include "privacy/scan/pass.h"

#include <string.h>

_Static_assert(CONTEXT_COUNT <= CONTEXTS_MAX, "room for every announcing kind");

/* What a byte can do. */
enum {
    WORD = 1,  /* letter or digit */
    LOCAL = 2, /* local part of an address: RFC 5321's atext without = / ? { | } `, which delimit */
    SIGN = 4   /* punctuation at which detectors are asked */
};

/* clang-format off */
#define W (WORD | LOCAL)
static const uint8_t traits[128] = {
    ['a'] = W, ['b'] = W, ['c'] = W, ['d'] = W, ['e'] = W, ['f'] = W, ['g'] = W,
    ['h'] = W, ['i'] = W, ['j'] = W, ['k'] = W, ['l'] = W, ['m'] = W, ['n'] = W,
    ['o'] = W, ['p'] = W, ['q'] = W, ['r'] = W, ['s'] = W, ['t'] = W, ['u'] = W,
    ['v'] = W, ['w'] = W, ['x'] = W, ['y'] = W, ['z'] = W,
    ['A'] = W, ['B'] = W, ['C'] = W, ['D'] = W, ['E'] = W, ['F'] = W, ['G'] = W,
    ['H'] = W, ['I'] = W, ['J'] = W, ['K'] = W, ['L'] = W, ['M'] = W, ['N'] = W,
    ['O'] = W, ['P'] = W, ['Q'] = W, ['R'] = W, ['S'] = W, ['T'] = W, ['U'] = W,
    ['V'] = W, ['W'] = W, ['X'] = W, ['Y'] = W, ['Z'] = W,
    ['0'] = W, ['1'] = W, ['2'] = W, ['3'] = W, ['4'] = W,
    ['5'] = W, ['6'] = W, ['7'] = W, ['8'] = W, ['9'] = W,
    ['.'] = LOCAL, ['_'] = LOCAL, ['%'] = LOCAL | SIGN, ['\''] = LOCAL, ['&'] = LOCAL, ['!'] = LOCAL,
    ['#'] = LOCAL, ['$'] = LOCAL, ['*'] = LOCAL, ['^'] = LOCAL, ['~'] = LOCAL,
    ['+'] = LOCAL | SIGN, ['-'] = LOCAL | SIGN,
    ['@'] = SIGN, ['='] = SIGN, [':'] = SIGN,
};
#undef W
/* clang-format on */

static inline struct run read_run(struct td_str text, size_t begin)
{
    const unsigned char *p = (const unsigned char *)text.data;
    struct run run = {begin, begin, 0, false};
    while (run.end < text.len && p[run.end] < 0x80 && (traits[p[run.end]] & WORD))
        run.digits |= p[run.end++] <= '9';
    run.long_end = run.end;
    while (run.long_end < text.len && plain_is_word_byte(p[run.long_end]) &&
           run.long_end - run.end <= LEXICON_WORD_BYTES_MAX)
        run.long_end++;
    if (run.end > begin && p[begin] > '9') /* what begins with a digit is in no list */
        run.hash = lexicon_hash(text.data + begin, run.long_end - begin);
    return run;
}

#define PLAIN_WORD_MAX 15 /* a longer one may be a key, base64 or a number with letters only */

/* Is a word of one to three letters with a capital certainly not the beginning of a number?
 * announced: as for skip_plain_words. */
static inline bool short_is_plain(const char *word, unsigned len, bool announced)
{
    char after = word[len], next = word[len + 1];
    return after == '\n' ||
           (after == ' ' && ((next >= 'a' && next <= 'z') ||
                             (next >= 'A' && next <= 'Z' && len < 3 && !announced)));
}

/* Most of prose: ASCII words that no detector wants to see, each with a space or line end after
 * it, or one sign and that. From the beginning of a word to that of the first one that is not so.
 * announced: a document, maybe. */
static size_t skip_plain_words(struct td_str text, size_t i, bool announced)
{
    const char *p = text.data;
    while (text.len - i > 16 + 2) {
        uint64_t first, second = 0, hash;
        memcpy(&first, p + i, 8);
        unsigned len = plain_letters_of(first);
        if (len == 8) {
            memcpy(&second, p + i + 8, 8);
            len = plain_letters_of(second);
            hash = lexicon_mix(LEXICON_HASH_BASIS, first | LEXICON_FOLD);
            if (len > 0)
                hash = lexicon_mix(hash, (second | LEXICON_FOLD) & ~UINT64_C(0) >> (64 - 8 * len));
            len += 8;
        } else {
            if (len == 0)
                return i;
            hash = lexicon_mix(LEXICON_HASH_BASIS,
                               (first | LEXICON_FOLD) & ~UINT64_C(0) >> (64 - 8 * len));
        }
        bool capital = !(p[i] & 0x20);
        if (lexicon_may_hold(hash) || len > PLAIN_WORD_MAX ||
            (capital && (len == 8 || len == 11 || (len > 8 && !(p[i + 1] & 0x20)) ||
                         (len <= 3 && !short_is_plain(p + i, len, announced)))))
            return i;
        size_t at = i + len;
        at += p[at] == ',' || p[at] == '.' || p[at] == ';' || p[at] == '?' || p[at] == '!';
        if (p[at] != ' ' && p[at] != '\n')
            return i;
        i = at + 1;
    }
    return i;
}

static enum detect_trigger trigger_of(int sign)
{
    switch (sign) {
    case '@':
        return TRIGGER_AT;
    case '+':
        return TRIGGER_PLUS;
    case '-':
        return TRIGGER_DASH;
    case ':':
        return TRIGGER_COLON;
    default:
        return TRIGGER_EQUALS;
    }
}

static void scan_escaped(struct pass *pass)
{
    struct place *place = &pass->place;
    struct td_str text = place->text;
    size_t begin = place->begin, *decoded_end = &pass->memory.decoded_end;
    if (pass_decodes(pass) && begin >= *decoded_end && begin + 2 < text.len &&
        ascii_is_hex((unsigned char)text.data[begin + 1]) &&
        ascii_is_hex((unsigned char)text.data[begin + 2]))
        *decoded_end = encoded_scan_escaped(place, *decoded_end, settle_add, &pass->found);
}

static size_t scan_sign(struct pass *pass, int c)
{
    struct place *place = &pass->place;
    if (c == '%' || c == '=')
        scan_escaped(pass);
    if (c == '%')
        return 0;
    place->shape = SHAPE_ALWAYS;
    return detectors_ask(trigger_of(c), place, settle_add, &pass->found);
}

/* What stands before the next character. */
static inline void set_before(struct place *place, int before2, int before, size_t begin)
{
    place->before2 = before2;
    place->before = before;
    place->before_begin = begin;
}

/* Goes on after a finding at `end`, as if nothing stood before. */
static size_t resume_at(struct place *place, size_t end)
{
    set_before(place, PLAIN_OTHER, PLAIN_OTHER, end);
    place->local_begin = SIZE_MAX;
    place->last_word = SIZE_MAX;
    return end;
}

/* Over the rest of an ASCII word, which ends at `end`: nothing begins inside it. */
static size_t skip_rest(struct place *place, size_t i, size_t end)
{
    const unsigned char *bytes = (const unsigned char *)place->text.data;
    if (end > i)
        set_before(place, bytes[end - 2], bytes[end - 1], end - 1);
    if (end < place->text.len && bytes[end] == ':')
        place->last_word = place->begin;
    return end;
}

static void find_seed(struct pass *pass, size_t from)
{
    if (!seed_words_next(pass->place.text, from, &pass->seed_checks, &pass->seed))
        pass->seed.begin = SIZE_MAX;
}

/* Adds the seed phrases that begin up to `offset`. */
static void add_seeds(struct pass *pass, size_t offset)
{
    while (pass->seed.begin <= offset) {
        settle_add(&pass->found, &pass->seed);
        find_seed(pass, pass->seed.end);
    }
}

/* Adds the names that begin up to `offset`. */
static void add_names(struct pass *pass, struct name_source *names, size_t offset)
{
    while (names->next.begin <= offset) {
        settle_add(&pass->found, &names->next);
        name_source_advance(names);
    }
}

struct sources {
    struct name_source *names; /* NULL: none are asked */
    struct scan_beside beside;
    const struct place *around; /* of decoded text: where it stood; else NULL */
};

#define ANNOUNCED_REACH 48 /* bytes between an announcing word and encoded text */

/* The words that announce something at the place where the text stood end right before it. */
static void take_announced(struct pass *pass, const struct place *around)
{
    for (int kind = 0; kind < CONTEXT_COUNT; kind++)
        pass->context.ended[kind] = place_context(around, kind, ANNOUNCED_REACH);
    pass->announced = 1;
}

static void pass_init(struct pass *pass, struct td_str text, const struct sources *sources)
{
    *pass = (struct pass){0};
    pass->memory.level = sources->around ? sources->around->memory->level + 1 : 0;
    pass->memory.reading = sources->beside.reading;
    pass->memory.rereader = sources->beside.rereader;
    if (sources->names != NULL) {
        pass->memory.names = sources->names->on;
        pass->memory.name_class = sources->names->data_class;
    }
    pass->place = (struct place){.text = text,
                                 .before = PLAIN_END,
                                 .before2 = PLAIN_END,
                                 .context = &pass->context,
                                 .memory = &pass->memory,
                                 .local_begin = SIZE_MAX,
                                 .last_word = SIZE_MAX};
    if (sources->around != NULL)
        take_announced(pass, sources->around);
}

/* Over plain words from the place on, if any stand there: where they end. */
static size_t skip_prose(struct pass *pass, size_t begin)
{
    struct place *place = &pass->place;
    struct td_str text = place->text;
    bool announced = pass->announced != 0 && begin < pass->announced + DOCUMENT_REACH;
    size_t end = skip_plain_words(text, begin, announced);
    if (end > begin) {
        set_before(place, (unsigned char)text.data[end - 2], (unsigned char)text.data[end - 1],
                   end - 1);
        place->local_begin = SIZE_MAX;
        place->last_word = SIZE_MAX;
    }
    return end;
}

static void scan_pass(struct td_str text, const struct sources *sources, span_fn *emit, void *ctx)
{
    ASSERT(emit != NULL && (text.data != NULL || text.len == 0));
    struct name_source *names = sources->names;
    const struct privacy_span *others = sources->beside.others;
    size_t others_taken = 0, other_count = sources->beside.other_count;
    struct pass pass;
    struct place *place = &pass.place;
    size_t i = 0;
    detectors_init();
    pass_init(&pass, text, sources);
    pass.found.text = text;
    pass.found.emit = emit;
    pass.found.ctx = ctx;
    find_seed(&pass, 0);
    while (i < text.len) {
        struct plain next = plain_at(text, i);
        if (next.c == PLAIN_END)
            break;
        while (others_taken < other_count && others[others_taken].begin <= next.begin)
            settle_add(&pass.found, &others[others_taken++]);
        if (pass.seed.begin <= next.begin)
            add_seeds(&pass, next.begin);
        if (names != NULL && names->next.begin <= next.begin)
            add_names(&pass, names, next.begin);
        uint8_t trait = next.c < 0x80 ? traits[next.c] : next.c == PLAIN_LETTER ? WORD | LOCAL : 0;
        size_t resume = 0;
        struct run run = {0};
        bool starts_word =
            (trait & WORD) && next.c != PLAIN_LETTER && !ascii_is_alnum(place->before);
        if (starts_word && next.end == next.begin + 1 &&
            (place->before == ' ' || place->before == '\n')) {
            size_t skipped = skip_prose(&pass, next.begin);
            if (skipped > next.begin) {
                i = skipped;
                continue;
            }
        }
        place->begin = next.begin;
        if (starts_word) {
            run = read_run(text, next.begin);
            resume = scan_word(&pass, next.c, &run);
        } else if (trait & SIGN)
            resume = scan_sign(&pass, next.c);
        if (resume != 0) {
            i = resume_at(place, resume);
            continue;
        }
        if (!(trait & LOCAL))
            place->local_begin = SIZE_MAX;
        else if (place->local_begin == SIZE_MAX)
            place->local_begin = next.begin;
        set_before(place, place->before, next.c, next.begin);
        place->last_word = SIZE_MAX;
        i = next.end;
        if (starts_word && next.end == next.begin + 1)
            i = skip_rest(place, i, run.end > i ? run.end : i);
    }
    while (others_taken < other_count)
        settle_add(&pass.found, &others[others_taken++]);
    add_seeds(&pass, text.len);
    if (names != NULL)
        add_names(&pass, names, text.len);
    settle_finish(&pass.found);
}

void scan_plain(struct td_str text, const struct place *around, span_fn *emit, void *ctx)
{
    scan_pass(text, &(struct sources){.around = around}, emit, ctx);
}

void scan_text(struct td_str text, const struct scan_beside *beside, span_fn *emit, void *ctx)
{
    struct name_source
        names; /* 20 KB: not in scan_pass, which is entered again for what is hidden */
    name_source_begin(&names, beside->names, text, beside->strict);
    scan_pass(text, &(struct sources){&names, *beside, NULL}, emit, ctx);
}
