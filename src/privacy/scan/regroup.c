/* Reads a number in the form that the detectors know.
 *
 * Any signs may stand between the groups of a card or an account number: what a reader still takes
 * for one number is one. A list of four-digit numbers looks the same. So only the groups of real
 * cards count, a row must have exactly these and no more, and the number must then be certain: its
 * check digits hold, or a word announces it. */
#include "privacy/scan/regroup.h"

#include "base/core/str.h"
#include "base/text/utf8.h"
#include "privacy/scan/piece.h"
#include "privacy/text/joint.h"

#include <string.h>

#define DIGITS_MAX 19
#define DIGITS_MIN 9       /* of an announced number in three groups; a date has eight */
#define LONG_DIGITS_MIN 12 /* in two */
#define GROUPS_MAX 20      /* of a row that are remembered */
#define GLUED_DIGITS 9     /* in a word, without a sign */
#define WORD_MAX 96

struct group {
    size_t begin, end, joint; /* joint: bytes before it */
    uint8_t digits;
};

/* The groups of a row; the announced number of a longer row is in the first ones. */
struct row {
    struct group groups[GROUPS_MAX];
    size_t count;
    bool longer;
};

/* Reads the digits at the offset. False when there are none, or too many for a number. */
static bool read_group(struct td_str text, size_t offset, struct group *group)
{
    struct plain next = plain_at(text, offset);
    *group = (struct group){.begin = next.begin, .end = next.begin};
    for (; ascii_is_digit(next.c) && group->digits <= DIGITS_MAX; next = plain_at(text, next.end)) {
        group->digits++;
        group->end = next.end;
    }
    return group->digits > 0 && group->digits <= DIGITS_MAX && !is_word(next.c);
}

static void add_group(struct row *row, const struct group *group)
{
    if (row->count < GROUPS_MAX)
        row->groups[row->count++] = *group;
    else
        row->longer = true;
}

/* Is what stands between the groups from `first` to `last` the same everywhere? */
static bool joints_alike(struct td_str text, const struct group *first, const struct group *last)
{
    for (const struct group *group = first + 2; group <= last; group++)
        if (group->joint != first[1].joint ||
            memcmp(text.data + group->begin - group->joint,
                   text.data + first[1].begin - first[1].joint, group->joint) != 0)
            return false;
    return true;
}

/* Is there one sign between each two groups, though not the same one? Not of arithmetic. */
static bool joints_plain(struct td_str text, const struct group *first, const struct group *last)
{
    for (const struct group *group = first + 1; group <= last; group++)
        if (group->joint != 1 || strchr(" -./|_\t\n", text.data[group->begin - 1]) == NULL)
            return false;
    return true;
}

/* The usual signs with the usual groups are the detectors' own. */
static bool is_usual(struct td_str text, const struct group *first, const struct group *last)
{
    char sign = text.data[first->end];
    return first[1].joint == 1 && joints_alike(text, first, last) &&
           (sign == ' ' || sign == '-' || sign == '.');
}

static void scan_groups(const struct place *place, const struct group *first,
                        const struct group *last, span_fn *emit, void *ctx)
{
    struct piece piece;
    piece_begin(&piece, place, first->begin, PIECE_WHOLE, emit, ctx);
    for (const struct group *group = first; group <= last; group++)
        for (size_t at = group->begin; at < group->end;) {
            struct plain digit = plain_at(place->text, at);
            piece_put(&piece, (char)digit.c, digit.begin);
            at = digit.end;
        }
    piece_scan(&piece, last->end);
}

static size_t digits_of(const struct group *first, const struct group *last)
{
    size_t digits = 0;
    for (; first <= last; first++)
        digits += first->digits;
    return digits;
}

/* Are these the groups of a number that is long enough to be certain by its check digits? All are
 * alike: four of four, two of eight, digits one by one. American Express has four, six and five
 * digits, Diners' last group four. Or they are thousands: "4,111,111,111,111,111". */
static bool are_of_card(struct td_str text, const struct group *first, const struct group *last)
{
    size_t count = (size_t)(last - first) + 1, size = first->digits;
    bool alike = joints_alike(text, first, last), plain = joints_plain(text, first, last);
    if (count == 3 && size == 4 && first[1].digits == 6)
        return (alike || plain) && (last->digits == 5 || last->digits == 4);
    for (const struct group *group = first + 2; group <= last; group++)
        if (group->digits != first[1].digits)
            return false;
    if (first[1].digits != size)
        return size < 3 && first[1].digits == 3 && count >= 5 && alike && first[1].joint == 1;
    if (size == 4 && count == 4)
        return alike || plain;
    return alike && ((size == 8 && count == 2) || (size == 1 && count >= 13 && count <= 19) ||
                     (size == 3 && count == 5 && first[1].joint == 1));
}

/* Beside a word that announces it a number may have any groups, and others may follow. */
static void judge_announced(const struct place *place, const struct row *row, span_fn *emit,
                            void *ctx)
{
    const struct group *first = row->groups, *end = first + row->count;
    for (const struct group *last = first + 1; last < end; last++) {
        size_t digits = digits_of(first, last);
        bool ends = last + 1 == end || last[1].digits != last->digits;
        if (digits > DIGITS_MAX)
            break;
        bool enough = digits >= LONG_DIGITS_MIN || (digits >= DIGITS_MIN && last >= first + 2);
        if (ends && enough && joints_alike(place->text, first, last) &&
            !is_usual(place->text, first, last))
            scan_groups(place, first, last, emit, ctx);
    }
}

static void judge_row(const struct place *place, const struct row *row, bool announced,
                      span_fn *emit, void *ctx)
{
    const struct group *first = row->groups, *last = first + row->count - 1;
    if (first == last)
        return;
    if (!row->longer && digits_of(first, last) <= DIGITS_MAX &&
        are_of_card(place->text, first, last) && !is_usual(place->text, first, last))
        scan_groups(place, first, last, emit, ctx);
    else if (announced)
        judge_announced(place, row, emit, ctx);
}

size_t regroup_scan_row(const struct place *place, bool announced, span_fn *emit, void *ctx)
{
    struct td_str text = place->text;
    struct row row;
    struct group group, next;
    row.count = 0;
    row.longer = false;
    if (!read_group(text, place->begin, &group))
        return place->begin;
    for (;;) {
        add_group(&row, &group);
        size_t begin = joint_end(text, group.end);
        if (begin == 0 || !read_group(text, begin, &next))
            break;
        next.joint = next.begin - group.end;
        group = next;
    }
    judge_row(place, &row, announced, emit, ctx);
    return group.end;
}

/* --- within a word --- */

/* "customerSsn536904399": does another word or number begin at the offset? A letter beyond ASCII
 * may be a part of the word ("fødselsnummer"), or cut it off ("SSNé536904399"). */
static bool begins_part(struct td_str word, size_t at, bool cut)
{
    int before = (unsigned char)word.data[at - 1], c = (unsigned char)word.data[at];
    return ascii_is_digit(before) != ascii_is_digit(c) ||
           (ascii_is_lower(before) && ascii_is_upper(c)) ||
           (cut && (before >= 0x80) != (c >= 0x80));
}

enum parting {
    PARTS_NONE,
    PARTS,    /* words and numbers */
    PARTS_CUT /* and letters beyond ASCII */
};

/* The word from `base` to where the place's ends. */
static void scan_parts(const struct place *place, size_t base, enum parting parting, span_fn *emit,
                       void *ctx)
{
    struct piece piece;
    struct td_str word = str_slice(place->text, base, place->run_end);
    piece_begin(&piece, place, base, PIECE_CERTAIN, emit, ctx);
    for (size_t i = 0; i < word.len; i++) {
        if (parting != PARTS_NONE && i > 0 && begins_part(word, i, parting == PARTS_CUT))
            piece_put(&piece, ' ', base + i);
        piece_put(&piece, word.data[i], base + i);
    }
    piece_scan(&piece, base + word.len);
}

/* Where the letters begin that end before the place. A digit ends them, so that rows of numbers
 * cost no more than they are long. */
static size_t letters_begin(const struct place *place)
{
    size_t begin = place->begin;
    for (; begin > 0 && place->begin - begin < WORD_MAX; begin--) {
        unsigned char before = (unsigned char)place->text.data[begin - 1];
        if (!plain_is_word_byte(before) || ascii_is_digit(before))
            break;
    }
    return utf8_character_begin(place->text, begin);
}

/* "4.111111111111111e15", as programs print what is too long for them: the word is what follows the
 * dot. */
static void scan_float(const struct place *place, struct td_str word, span_fn *emit, void *ctx)
{
    struct td_str text = place->text;
    size_t digits = 0, end = place->begin, exponent = 0;
    if (place->before != '.' || !ascii_is_digit(place->before2) || place->before_begin < 1 ||
        (place->before_begin > 1 && is_word((unsigned char)text.data[place->before_begin - 2])))
        return;
    while (digits < word.len && ascii_is_digit((unsigned char)word.data[digits]))
        digits++;
    end += digits + 1;
    if (digits == word.len || (word.data[digits] | 0x20) != 'e')
        return;
    end += end < text.len && text.data[end] == '+';
    for (; end < text.len && ascii_is_digit((unsigned char)text.data[end]) && exponent < 100; end++)
        exponent = exponent * 10 + (size_t)(text.data[end] - '0');
    if (exponent < digits || exponent >= DIGITS_MAX || digits + 1 < LONG_DIGITS_MIN)
        return;
    struct piece piece;
    piece_begin(&piece, place, place->before_begin - 1, PIECE_WHOLE, emit, ctx);
    piece_put(&piece, text.data[place->before_begin - 1], place->before_begin - 1);
    for (size_t i = 0; i < exponent; i++)
        piece_put(&piece, i < digits ? word.data[i] : '0',
                  place->begin + (i < digits ? i : digits));
    piece_scan(&piece, end);
}

void regroup_scan_word(const struct place *place, span_fn *emit, void *ctx)
{
    struct td_str word = str_slice(place->text, place->begin, place->run_end);
    size_t first = 0, longest = 0, row = 0;
    if (word.len > WORD_MAX)
        return;
    while (first < word.len && !ascii_is_digit((unsigned char)word.data[first]))
        first++;
    for (size_t i = first; i < word.len; i++) {
        row = ascii_is_digit((unsigned char)word.data[i]) ? row + 1 : 0;
        longest = row > longest ? row : longest;
    }
    /* A letter beyond ASCII ends a run: "карта4111111111111111" has its letters before this one. */
    if (longest < GLUED_DIGITS || (longest == word.len && place->before != PLAIN_LETTER))
        return;
    scan_float(place, word, emit, ctx);
    size_t whole = place->before == PLAIN_LETTER ? letters_begin(place) : place->begin;
    scan_parts(place, whole, PARTS, emit, ctx);
    if (whole < place->begin)
        scan_parts(place, whole, PARTS_CUT, emit, ctx);
    if (first > 2) /* an account number begins with its country: "IBANDE89..." */
        scan_parts(place, place->begin + first - 2, PARTS_NONE, emit, ctx);
}
