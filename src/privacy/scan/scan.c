/* The one pass. Every character is looked at once; those that can begin (or, '@' and '=', stand
 * inside) a finding call a detector, which looks at most a bounded way around, so the whole is
 * linear however the text is made. Private keys and tokens may be long, therefore the pass goes on
 * behind them.
 *
 * Findings that overlap become one that covers both, of the kind with the higher class (then the
 * longer, then the surer): nothing that a detector saw stays uncovered. They are settled in a short
 * list before they go out, because an address is found at its '@', after what stands in its local
 * part. */
#include "privacy/scan/scan.h"

#include "base/str.h"
#include "base/utf8.h"
#include "privacy/detect/detect.h"
#include "privacy/scan/detect_hidden.h"
#include "privacy/text/escaped.h"
#include "privacy/text/reading.h"
#include "privacy/words/lexicon.h"

/* An address's local part reaches at most 512 bytes back; within them there is no room for more
 * findings that could still grow than PENDING_KEPT. When the list is full the older ones go out. */
#define PENDING_MAX 64
#define PENDING_KEPT 16

struct scan {
    struct td_str text;
    scan_fn *emit;
    void *ctx;
    struct privacy_span pending[PENDING_MAX]; /* by position, not overlapping */
    size_t pending_count;
    size_t floor;                    /* end of what has gone out */
    const struct name_source *names; /* NULL: decoded text, which is not looked into again */
    const struct reading *reading;   /* NULL: one text */
    size_t part;                     /* of the reading, where a private key was last looked for */
    size_t decoded_end;              /* of the encoded text that was looked into */
    size_t no_base64[4];             /* up to where no base64 text begins, by offset modulo 4 */
    size_t local_begin; /* of the run of local-part characters up to here; SIZE_MAX none */
    int before, before2;
    size_t before_begin;
    struct context context;
    size_t announced; /* where the last word that announces anything ended, + 1; 0 none */
    struct numbers numbers;
    struct keys keys;
    struct path path;
};

_Static_assert(CONTEXT_COUNT <= CONTEXTS_MAX, "room for every announcing kind");

/* What a byte can do. */
enum {
    WORD = 1,  /* letter or digit */
    LOCAL = 2, /* local part of an address: RFC 5321's atext without = / ? { | } `, which delimit */
    TRIGGER = 4 /* punctuation with a detector */
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
    ['.'] = LOCAL, ['_'] = LOCAL, ['%'] = LOCAL | TRIGGER, ['\''] = LOCAL, ['&'] = LOCAL, ['!'] = LOCAL,
    ['#'] = LOCAL, ['$'] = LOCAL, ['*'] = LOCAL, ['^'] = LOCAL, ['~'] = LOCAL,
    ['+'] = LOCAL | TRIGGER, ['-'] = LOCAL | TRIGGER,
    ['@'] = TRIGGER, ['='] = TRIGGER, [':'] = TRIGGER,
};
#undef W
/* clang-format on */

/* What the tagger takes for a name and that cannot be in one: a bank's code is announced, and no street lies
 * within a date. */
static bool never_within(const struct privacy_span *guess, const struct privacy_span *sure)
{
    bool name = guess->kind == PRIVACY_PERSON || guess->kind == PRIVACY_PLACE ||
                guess->kind == PRIVACY_ORGANIZATION;
    bool inside = guess->begin >= sure->begin && guess->end <= sure->end;
    return (name && sure->kind == PRIVACY_SWIFT) ||
           (guess->kind == PRIVACY_ADDRESS && sure->kind == PRIVACY_DATE && sure->score >= 0.8f &&
            inside);
}

/* By class, then by length, then by score. What is surely one thing (a checksum, an announcing word)
 * is not swallowed by a guess of the same class. */
static bool outranks(const struct privacy_span *a, const struct privacy_span *b)
{
    size_t len_a = a->end - a->begin, len_b = b->end - b->begin;
    if (never_within(a, b) || never_within(b, a))
        return never_within(b, a);
    if (a->data_class != b->data_class)
        return a->data_class > b->data_class;
    if (a->score + 0.25f < b->score || b->score + 0.25f < a->score)
        return a->score > b->score;
    return len_a != len_b ? len_a > len_b : a->score > b->score;
}

/* All but the last `kept`. */
static void emit_older(struct scan *scan, size_t kept)
{
    size_t count = scan->pending_count - kept;
    for (size_t i = 0; i < count; i++)
        scan->emit(scan->ctx, &scan->pending[i]);
    if (count > 0)
        scan->floor = scan->pending[count - 1].end;
    scan->pending_count = kept;
    memmove(scan->pending, scan->pending + count, kept * sizeof scan->pending[0]);
}

static void append(struct scan *scan, const struct privacy_span *span)
{
    if (scan->pending_count == PENDING_MAX)
        emit_older(scan, PENDING_KEPT);
    scan->pending[scan->pending_count++] = *span;
}

/* What stands behind the backslash of an escape in a text within a text belongs to the escape, not to the
 * word that follows it: behind it, or the place itself. */
static size_t behind_escape(struct td_str text, size_t at)
{
    if (at == 0 || at >= text.len || text.data[at - 1] != '\\')
        return at;
    if (escaped_ends_at(text, at + 1))
        return at + 1;
    return at + 5 <= text.len && escaped_ends_at(text, at + 5) ? at + 5 : at;
}

/* A detector that goes back over bytes may stop inside a character: that is none of the value's. */
static void keep_whole_characters(struct td_str text, struct privacy_span *span)
{
    if (utf8_character_begin(text, span->begin) < span->begin) {
        span->begin = utf8_character_begin(text, span->begin);
        utf8_next(text, &span->begin);
    }
    span->end = utf8_character_begin(text, span->end);
}

static void add(struct scan *scan, struct privacy_span span)
{
    keep_whole_characters(scan->text, &span);
    span.begin = behind_escape(scan->text, span.begin);
    if (span.begin < scan->floor)
        span.begin = scan->floor;
    if (span.begin >= span.end)
        return;
    if (span.data_class < privacy_kind_class(span.kind))
        span.data_class = privacy_kind_class(span.kind);
    if (scan->pending_count == 0 ||
        scan->pending[scan->pending_count - 1].end <= span.begin) { /* most come in order */
        append(scan, &span);
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < scan->pending_count; i++) {
        struct privacy_span *old = &scan->pending[i];
        if (old->end <= span.begin || span.end <= old->begin) {
            scan->pending[kept++] = *old;
            continue;
        }
        bool old_wins = outranks(old, &span);
        struct privacy_span merged = old_wins ? *old : span;
        const struct privacy_span *loser = old_wins ? &span : old;
        if (loser->data_class != TD_CLASS_PUBLIC) { /* what is public need not stay covered */
            merged.begin = old->begin < span.begin ? old->begin : span.begin;
            merged.end = old->end > span.end ? old->end : span.end;
        }
        span = merged;
    }
    scan->pending_count = kept;
    append(scan, &span);
    size_t at = scan->pending_count - 1;
    while (at > 0 && scan->pending[at - 1].begin > span.begin) {
        scan->pending[at] = scan->pending[at - 1];
        at--;
    }
    scan->pending[at] = span;
}

static void add_found(void *ctx, const struct privacy_span *span)
{
    add(ctx, *span);
}

/* The rest of an ASCII word from `begin` on. */
struct run {
    /* The latter with the bytes of letters beyond ASCII, of which a word may begin behind each: no more
     * of them than a list's word has. */
    size_t end, long_end;
    uint64_t hash; /* lexicon's, to long_end */
    bool digits;
};

static struct place place_at(const struct scan *scan, size_t begin)
{
    return (struct place){.text = scan->text,
                          .begin = begin,
                          .before = scan->before,
                          .before2 = scan->before2,
                          .before_begin = scan->before_begin,
                          .context = &scan->context};
}

static void scan_number(struct scan *scan, size_t begin, const struct run *run)
{
    struct privacy_span spans[NUMBER_FINDINGS_MAX];
    struct place place = place_at(scan, begin);
    if (is_word(scan->before))
        return;
    size_t count = detect_number(&scan->numbers, &place, run->long_end, spans);
    for (size_t i = 0; i < count; i++)
        add(scan, spans[i]);
}

/* A word that the lexicon knows: what it announces is noted, what it is itself is added. */
static void scan_known_word(struct scan *scan, size_t begin, size_t end,
                            const struct lexicon_entry *entry)
{
    struct place place = place_at(scan, begin);
    struct td_str text = scan->text;
    struct privacy_span span;
    unsigned char first = (unsigned char)text.data[begin];
    bool capital = first < 'a' || first >= 0x80;
    struct word before = spelled_before(text, begin, 2);
    for (; entry != NULL; entry = lexicon_next(entry)) {
        size_t entry_begin = begin;
        if (entry->previous != NULL) {
            if (before.end - before.begin != entry->previous_len ||
                !str_equal_nocase(str_slice(text, before.begin, before.end),
                                  (struct td_str){entry->previous, entry->previous_len}))
                continue;
            entry_begin = before.begin;
        }
        if (entry->context != CONTEXT_NONE) {
            scan->context.ended[entry->context] = end + 1;
            if (entry->context >= PRIVACY_US_MBI && entry->context <= PRIVACY_IL_ID)
                scan->context.ended[CONTEXT_NATIONAL] = end + 1;
            scan->announced = end + 1;
        }
        if (entry->context == CONTEXT_PASSWORD && detect_password(&place, end, &span))
            add(scan, span);
        if ((entry->roles & (ROLE_MONTH | ROLE_MONTH_SHORT)) &&
            detect_month(&place, end, entry->roles & ROLE_MONTH_SHORT, &span))
            add(scan, span);
        if ((entry->roles & ROLE_WEEKDAY) && (capital || entry->value <= 14))
            add(scan, (struct privacy_span){
                          .kind = PRIVACY_DATE, .begin = begin, .end = end, .score = 0.6f});
        if (entry->roles & ROLE_NRP)
            add(scan, span_of(PRIVACY_NRP, entry_begin, end,
                              entry->previous != NULL ? 0.95f
                              : capital               ? 0.8f
                                                      : 0.5f));
        if (entry->roles & ROLE_DOT && detect_spelled_email(&place, end, &span))
            add(scan, span);
        if (entry->roles & ROLE_TITLE && detect_title(&place, end, &span))
            add(scan, span);
        if (entry->roles & ROLE_JOB && detect_job(&place, end, &span))
            add(scan, span);
        if (entry->roles & ROLE_COMPANY && scan->names != NULL && scan->names->on &&
            detect_company(&place, end, &span)) {
            span.data_class = scan->names->data_class;
            add(scan, span);
        }
    }
}

/* Is an IBAN possible here: two letters and a digit, maybe behind a separator, or characters whose plain
 * form is not known yet? */
static bool iban_possible(const struct scan *scan, size_t i)
{
    const unsigned char *p = (const unsigned char *)scan->text.data;
    for (size_t k = 1; k <= 3; k++) {
        if (i + k >= scan->text.len)
            return false;
        unsigned char c = p[i + k];
        if (c >= 0x80 || (k >= 2 && is_digit(c)))
            return true;
        if (k == 1 ? !is_alpha(c) : c != ' ' && c != '-' && c != '.')
            return false;
    }
    return true;
}

static inline struct run run_read(struct td_str text, size_t begin)
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

/* A word with a letter first and a digit in it, or of one or two capitals before a number. */
static void scan_mixed_word(struct scan *scan, const struct place *place, const struct run *run)
{
    struct privacy_span span;
    size_t len = run->end - place->begin;
    int next = run->end + 1 < scan->text.len ? (unsigned char)scan->text.data[run->end + 1] : 0;
    /* A short word of letters alone begins a number when digits follow, or letters behind three. */
    if ((run->digits || len == 0 || len > 3 || next >= 0x80 ||
         (len == 3 ? is_alpha(next) : is_digit(next))) &&
        detect_national_word(place, &span))
        add(scan, span);
    if (place->begin >= scan->numbers.date_end && detect_document(place, false, &span))
        add(scan, span);
    if (run->digits && detect_icd10(place, &span))
        add(scan, span);
    if (run->digits && detect_postcode(place, &span))
        add(scan, span);
}

/* Can a key begin here? Prefixes end in a sign or are followed by many characters; the words
 * "bearer", "password", "passphrase" and "secret" have their lengths. */
static inline bool key_possible(int first, size_t len, int after)
{
    if (len >= 12 || after == '-' || after == '_' || after == '.' || after >= 0x80)
        return true;
    first |= 0x20;
    return (first == 'b' || first == 'p' || first == 's') && (len == 6 || len == 8 || len == 10);
}

/* Two hex digits and a sign, which stands behind the next two as well, or four and a dot; or characters
 * whose plain form is not known yet. */
static bool mac_possible(struct td_str text, size_t begin, size_t len, int first, int after)
{
    if (!is_hex(first) ||
        (len == 4 ? after != '.' : len != 2 || (after != ':' && after != '-' && after < 0x80)))
        return false;
    if (len == 4)
        return true;
    for (size_t i = begin + 2; i < text.len && i < begin + 6; i++)
        if ((unsigned char)text.data[i] >= 0x80)
            return true;
    return begin + 5 < text.len && text.data[begin + 5] == after;
}

/* Words that are no plain words: long, with digits, with a sign behind that leads on. */
static void scan_odd_word(struct scan *scan, const struct place *place, const struct run *run,
                          int first, int after)
{
    struct privacy_span span;
    size_t begin = place->begin, len = run->end - begin;
    if (scan->names != NULL && begin >= scan->decoded_end && len >= 8 &&
        begin >= scan->no_base64[begin % 4]) {
        size_t end;
        if (scan_base64(place, &end, add_found, scan) == BASE64_TEXT)
            scan->decoded_end = end;
        else
            scan->no_base64[begin % 4] = end;
    }
    if (begin < scan->decoded_end && begin + len <= scan->decoded_end) {
        ; /* text, so it is not drawn by lot */
    } else if (len >= 25 ||
               (run->digits && len >= 10 && (after == '/' || after == '+' || after == '_'))) {
        if (len >= 25 && detect_crypto(place, run->end, &span))
            add(scan, span);
        else if (detect_random(place, run->end, &span))
            add(scan, span);
    }
    if (mac_possible(scan->text, begin, len, first, after) && detect_mac(place, &span))
        add(scan, span);
    if (after == '.' && detect_domain(place, run->end, &scan->path, &span)) {
        struct privacy_span address;
        add(scan, span);
        if (detect_at_host(place, span.end, &address))
            add(scan, address);
    }
    if (after == ':' && !is_digit(first) && detect_url(place, &scan->path, &span))
        add(scan, span);
}

/* A word begins at `begin`; answers where the pass goes on, 0 = behind the word. */
static size_t scan_word(struct scan *scan, size_t begin, int first, const struct run *run)
{
    struct privacy_span span;
    struct td_str text = scan->text;
    size_t len = run->end - begin;
    int after = run->end < text.len ? (unsigned char)text.data[run->end] : 0;
    bool ascii = (unsigned char)text.data[begin] < 0x80;
    struct place place = place_at(scan, begin);
    if (len >= 16 || run->digits || after == '.' || after == ':' || (len == 2 && after == '-') ||
        (len >= 8 && (after == '+' || after == '/' || after == '_' || after == '-')))
        scan_odd_word(scan, &place, run, first, after);
    if (is_digit(first)) {
        scan_number(scan, begin, run);
        return 0;
    }
    if (scan->before == PLAIN_LETTER) {
        struct place letter = place;
        letter.begin = scan->before_begin; /* "GB" whose G is another script's */
        letter.before = scan->before2;
        if (!is_word(scan->before2) && detect_iban(&letter, &span))
            add(scan, span);
        return 0;
    }
    if (len == 2 && first == 'a' && scan->before >= 0 && scan->before < 0x80 && scan->before != 0 &&
        strchr("[({<", scan->before) != NULL && after != 0 && strchr("])}>", after) != NULL &&
        detect_bracketed_email(&place, run->end, &span))
        add(scan, span);
    if (lexicon_may_hold(run->hash)) {
        const struct lexicon_entry *entry =
            lexicon_find(run->hash, text.data + begin, run->long_end - begin);
        if (entry != NULL)
            scan_known_word(scan, begin, run->long_end, entry);
    }
    if (run->digits || !ascii ||
        (len <= 3 && first < 'a' && (after == ' ' || after == '-') && run->end + 1 < text.len &&
         !(text.data[run->end + 1] >= 'a' && text.data[run->end + 1] <= 'z')))
        scan_mixed_word(scan, &place, run);
    if ((len == 8 || len == 11) && first < 'a' && detect_swift(&place, run->end, &span))
        add(scan, span);
    if ((!ascii || iban_possible(scan, begin)) && detect_iban(&place, &span))
        add(scan, span);
    int second = begin + 1 < text.len ? (unsigned char)text.data[begin + 1] : 0;
    if ((!ascii || (key_possible(first, len, after) && detect_key_possible(first, second))) &&
        detect_key(&place, &scan->keys, &span)) {
        add(scan, span);
        return span.end;
    }
    return 0;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* How many of eight bytes, from the first, are ASCII letters. */
static inline unsigned letters_of(uint64_t bytes)
{
    uint64_t low = (bytes | 0x20 * EACH_BYTE) & 0x7f * EACH_BYTE;
    /* bit 7 of each byte: below 'a', above 'z', or beyond ASCII */
    uint64_t others =
        (~(low + (0x80 - 'a') * EACH_BYTE) | (low + (0x7f - 'z') * EACH_BYTE) | bytes) &
        0x80 * EACH_BYTE;
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

#define PLAIN_WORD_MAX 15 /* a longer one may be a key, base64 or a number with letters only */

/* Is a word of one to three letters with a capital no beginning of a number? For what may be announced
 * (see scan_mixed_word) see who calls. */
static inline bool short_is_plain(const char *word, unsigned len, bool announced)
{
    char after = word[len], next = word[len + 1];
    return after == '\n' ||
           (after == ' ' && ((next >= 'a' && next <= 'z') ||
                             (next >= 'A' && next <= 'Z' && len < 3 && !announced)));
}

/* Most of prose: ASCII words that no detector wants to see, each with a space or line end behind it,
 * or one sign and that. From the beginning of a word to that of the first one that is not so. announced: a
 * document, maybe. */
static size_t skip_plain_words(struct td_str text, size_t i, bool announced)
{
    const char *p = text.data;
    while (text.len - i > 16 + 2) {
        uint64_t first, second = 0, hash;
        memcpy(&first, p + i, 8);
        unsigned len = letters_of(first);
        if (len == 8) {
            memcpy(&second, p + i + 8, 8);
            len = letters_of(second);
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
            (capital &&
             (len == 8 || len == 11 || (len <= 3 && !short_is_plain(p + i, len, announced)))))
            return i;
        size_t at = i + len;
        at += p[at] == ',' || p[at] == '.' || p[at] == ';' || p[at] == '?' || p[at] == '!';
        if (p[at] != ' ' && p[at] != '\n')
            return i;
        i = at + 1;
    }
    return i;
}

/* A private key without an end goes on to its text's end, and not into the next one. */
static struct td_str text_until_end(struct scan *scan, size_t begin)
{
    const struct reading *reading = scan->reading;
    if (reading == NULL || reading->count == 0)
        return scan->text;
    while (scan->part + 1 < reading->count && reading->parts[scan->part].end <= begin)
        scan->part++;
    return str_slice(scan->text, 0, reading_text_end(reading, scan->part));
}

static size_t scan_trigger(struct scan *scan, size_t begin, int c)
{
    struct place place = place_at(scan, begin);
    struct privacy_span span;
    switch (c) {
    case '@':
        if (scan->local_begin != SIZE_MAX || scan->before == '"')
            if (detect_email(&place, scan->local_begin == SIZE_MAX ? begin : scan->local_begin,
                             &span))
                add(scan, span);
        return 0;
    case '%':
        if (scan->names != NULL && begin >= scan->decoded_end && begin + 2 < scan->text.len &&
            is_hex((unsigned char)scan->text.data[begin + 1]) &&
            is_hex((unsigned char)scan->text.data[begin + 2]))
            scan->decoded_end = scan_escaped(&place, scan->decoded_end, add_found, scan);
        return 0;
    case '+':
        if (detect_phone_plus(&place, &span))
            add(scan, span);
        return 0;
    case '-':
        if (begin + 5 >= scan->text.len || scan->text.data[begin + 5] != 'B')
            return 0;
        place.text = text_until_end(scan, begin);
        if (!detect_private_key(&place, &span))
            return 0;
        add(scan, span);
        return span.end;
    case ':':
        if (detect_ip6(&place, &span))
            add(scan, span);
        break;
    default:
        break;
    }
    if (!detect_assignment(&place, &span))
        return 0;
    add(scan, span);
    return span.end;
}

static void move_past(struct scan *scan, int c, size_t begin)
{
    scan->before2 = scan->before;
    scan->before = c;
    scan->before_begin = begin;
}

/* Continues behind a finding at `end`, as if nothing stood before. */
static size_t jump(struct scan *scan, size_t end)
{
    scan->before = scan->before2 = PLAIN_OTHER;
    scan->before_begin = end;
    scan->local_begin = SIZE_MAX;
    return end;
}

/* Behind an ASCII word that ends at `end`: nothing begins inside it. */
static size_t word_rest(struct scan *scan, size_t word_begin, size_t i, size_t end)
{
    const unsigned char *p = (const unsigned char *)scan->text.data;
    if (end > i) {
        scan->before2 = p[end - 2];
        scan->before = p[end - 1];
        scan->before_begin = end - 1;
    }
    if (end < scan->text.len && p[end] == ':' && end - word_begin <= 4 && is_hex(p[word_begin])) {
        int before = word_begin == 0 ? PLAIN_END : p[word_begin - 1];
        struct place place = {.text = scan->text,
                              .begin = word_begin,
                              .before = before < 0x80 ? before : PLAIN_OTHER,
                              .before2 = PLAIN_OTHER,
                              .context = &scan->context};
        struct privacy_span span;
        if (detect_ip6(&place, &span))
            add(scan, span);
    }
    return end;
}

/* Adds the names that begin up to `offset`. */
static void add_names(struct scan *scan, struct name_source *names, size_t offset)
{
    while (names->next.begin <= offset) {
        add(scan, names->next);
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
static void take_announced(struct scan *scan, const struct place *around)
{
    for (int kind = 0; kind < CONTEXT_COUNT; kind++)
        scan->context.ended[kind] = place_context(around, kind, ANNOUNCED_REACH);
    scan->announced = 1;
}

static void scan_pass(struct td_str text, const struct sources *sources, scan_fn *emit, void *ctx)
{
    struct name_source *names = sources->names;
    const struct privacy_span *others = sources->beside.others;
    size_t others_taken = 0, other_count = sources->beside.other_count;
    struct scan scan = {.text = text,
                        .names = names,
                        .reading = sources->beside.reading,
                        .emit = emit,
                        .ctx = ctx,
                        .local_begin = SIZE_MAX,
                        .before = PLAIN_END,
                        .before2 = PLAIN_END};
    size_t i = 0;
    lexicon_init();
    detect_national_init();
    if (sources->around != NULL)
        take_announced(&scan, sources->around);
    while (i < text.len) {
        struct plain next = plain_at(text, i);
        if (next.c == PLAIN_END)
            break;
        while (others_taken < other_count && others[others_taken].begin <= next.begin)
            add(&scan, others[others_taken++]);
        if (names != NULL && names->next.begin <= next.begin)
            add_names(&scan, names, next.begin);
        uint8_t trait = next.c < 0x80 ? traits[next.c] : next.c == PLAIN_LETTER ? WORD | LOCAL : 0;
        size_t resume = 0;
        struct run run = {0};
        bool starts_word = (trait & WORD) && next.c != PLAIN_LETTER && !is_alnum(scan.before);
        if (starts_word && next.end == next.begin + 1 &&
            (scan.before == ' ' || scan.before == '\n')) {
            bool announced = scan.announced != 0 && next.begin < scan.announced + DOCUMENT_REACH;
            size_t skipped = skip_plain_words(text, next.begin, announced);
            if (skipped > next.begin) {
                i = skipped;
                scan.before = (unsigned char)text.data[i - 1];
                scan.before2 = (unsigned char)text.data[i - 2];
                scan.before_begin = i - 1;
                scan.local_begin = SIZE_MAX;
                continue;
            }
        }
        if (starts_word && (!is_digit(next.c) || scan.before != PLAIN_LETTER)) {
            run = run_read(text, next.begin);
            resume = scan_word(&scan, next.begin, next.c, &run);
        } else if (trait & TRIGGER)
            resume = scan_trigger(&scan, next.begin, next.c);
        if (resume != 0) {
            i = jump(&scan, resume);
            continue;
        }
        if (!(trait & LOCAL))
            scan.local_begin = SIZE_MAX;
        else if (scan.local_begin == SIZE_MAX)
            scan.local_begin = next.begin;
        move_past(&scan, next.c, next.begin);
        i = next.end;
        if (starts_word && next.end == next.begin + 1)
            i = word_rest(&scan, next.begin, i, run.end > i ? run.end : i);
    }
    while (others_taken < other_count)
        add(&scan, others[others_taken++]);
    if (names != NULL)
        add_names(&scan, names, text.len);
    emit_older(&scan, 0);
}

void scan_plain(struct td_str text, const struct place *around, scan_fn *emit, void *ctx)
{
    scan_pass(text, &(struct sources){.around = around}, emit, ctx);
}

void scan_text(struct td_str text, const struct scan_beside *beside, scan_fn *emit, void *ctx)
{
    struct name_source
        names; /* 20 KB: not in scan_pass, which is entered again for what is hidden */
    name_source_begin(&names, beside->names, text, beside->strict);
    scan_pass(text, &(struct sources){&names, *beside, NULL}, emit, ctx);
}
