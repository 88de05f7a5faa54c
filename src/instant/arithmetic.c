/* A recursive descent over words. What people write with the same signs but mean otherwise is no
 * sum: dates (3/4/2024), times (4:30), telephone numbers (555-0142), "9/11" and "24/7". */
#include "instant/arithmetic.h"

#include <math.h>
#include <stdlib.h>

#define DEPTH_MAX 16
#define LIST_MAX 24
#define FACTORIAL_MAX 18
/* Whole numbers up to this one are exact in a double. */
#define EXACT_MAX 9e15
/* Digits after the point of what does not come out even. */
#define DECIMALS 6

struct sum {
    struct words *words;
    unsigned operations, depth;
    bool italian; /* "per" means times */
    bool failed;
};

static double read_sum(struct sum *sum);

static double fail(struct sum *sum)
{
    sum->failed = true;
    return 0;
}

/* A result on the way; beyond EXACT_MAX the next step would lose digits. */
static double held(struct sum *sum, double value)
{
    return fabs(value) <= EXACT_MAX ? value : fail(sum);
}

/* a + b, where what is left of two that should be equal is nothing. */
static double added(struct sum *sum, double a, double b)
{
    double hair = 1e-15 * (fabs(a) + fabs(b));
    return fabs(a + b) <= hair ? 0 : held(sum, a + b);
}

static bool eat(struct sum *sum, const char *alternatives)
{
    if (sum->failed || !words_eat(sum->words, alternatives))
        return false;
    sum->operations++;
    return true;
}

/* What begins with a needless zero is part of a name or of a telephone number. */
static bool is_padded(const struct words *words)
{
    const struct word *word = &words->at[words->next];
    return word->kind == WORD_NUMBER && word->text.len > 1 && word->text.data[0] == '0' &&
           word->text.data[1] != '.' && word->text.data[1] != ',';
}

static double read_atom(struct sum *sum)
{
    struct words *words = sum->words;
    double value;
    if (sum->failed || words_ended(words) || sum->depth >= DEPTH_MAX)
        return fail(sum);
    if (words_eat(words, "(")) {
        sum->depth++;
        value = read_sum(sum);
        sum->depth--;
        return words_eat(words, ")") ? value : fail(sum);
    }
    if (is_padded(words) || !words_eat_number(words, &value))
        return fail(sum);
    return held(sum, value);
}

#define PERCENT "%|percent|per cent|prozent|pour cent|por ciento|per cento"

/* "half of", "two thirds of", "twice" */
static bool eat_share(struct sum *sum, double *out)
{
    static const struct {
        const char *words;
        double part;
    } shares[] = {
        {"half of|half|one half of|die hälfte von|la moitié de|la mitad de", 1.0 / 2},
        {"a third of|one third of|1 third of", 1.0 / 3},
        {"two thirds of|2 thirds of", 2.0 / 3},
        {"a quarter of|one quarter of|a fourth of|one fourth of", 1.0 / 4},
        {"three quarters of|three fourths of|3 quarters of", 3.0 / 4},
        {"a fifth of|one fifth of", 1.0 / 5},
        {"a tenth of|one tenth of", 1.0 / 10},
        {"double|twice|two times", 2},
        {"triple|three times", 3},
    };
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (eat(sum, shares[i].words)) {
            *out = shares[i].part;
            return true;
        }
    return false;
}

static double factorial(struct sum *sum, double value)
{
    double product = 1;
    if (value != trunc(value) || value < 0 || value > FACTORIAL_MAX)
        return fail(sum);
    for (double i = 2; i <= value; i++)
        product *= i;
    return product;
}

static double read_power(struct sum *sum)
{
    if (words_eat(sum->words, "the square root of|square root of|sqrt of|sqrt")) {
        sum->operations++;
        double value = read_atom(sum);
        return value >= 0 ? sqrt(value) : fail(sum);
    }
    if (eat(sum, "the square of|square of")) {
        double value = read_atom(sum);
        return held(sum, value * value);
    }
    if (eat(sum, "the cube root of|cube root of"))
        return cbrt(read_atom(sum));
    double part;
    if (eat_share(sum, &part))
        return held(sum, part * read_power(sum));
    double value = read_atom(sum);
    if (eat(sum, PERCENT)) {
        if (words_eat(sum->words, "of the|of|von|de|del|di|van|av|z|tip on|tip for"))
            return value * read_atom(sum) / 100;
        return words_eat(sum->words, "off of|off") ? (1 - value / 100) * read_atom(sum) : fail(sum);
    }
    if (eat(sum, "factorial"))
        return factorial(sum, value);
    if (eat(sum, "squared"))
        return held(sum, value * value);
    if (eat(sum, "cubed"))
        return held(sum, value * value * value);
    if (eat(sum, "^|* *|to the power of|hoch"))
        return held(sum, pow(value, read_atom(sum)));
    return value;
}

static double read_factor(struct sum *sum)
{
    bool negative = words_eat(sum->words, "-|minus");
    double value = read_power(sum);
    return negative ? -value : value;
}

/* The x of "3x - 5", which is no sign. */
static bool is_unknown(const struct words *words)
{
    if (words_ended(words) || !words->at[words->next].glued)
        return false;
    const struct word *word = &words->at[words->next];
    bool factor = words->next + 1 < words->count && word[1].glued && word[1].kind == WORD_NUMBER;
    return str_equal_nocase(word->text, STR("x")) && !factor;
}

static double read_product(struct sum *sum)
{
    double value = read_factor(sum);
    while (!sum->failed) {
        size_t at = sum->words->next;
        bool inside =
            at + 1 < sum->words->count && sum->words->at[at].glued && sum->words->at[at + 1].glued;
        if (is_unknown(sum->words))
            return fail(sum);
        if (eat(sum, "*|x|times|multiplied by|mal|fois|por|keer|gange|razy") ||
            (sum->italian && eat(sum, "per"))) {
            value = held(sum, value * read_factor(sum));
        } else if (eat(sum, "divided by|/|over|geteilt durch|divisé par|dividido por|"
                            "dividido entre|diviso|entre|gedeeld door")) {
            double by = read_factor(sum);
            if (by == 0)
                return fail(sum);
            value /= by;
            if (eat(sum, "of the|of")) /* 3/4 of 100 */
                value = held(sum, value * read_factor(sum));
        } else if (!inside && eat(sum, ":")) {
            double by = read_factor(sum);
            if (by == 0)
                return fail(sum);
            value /= by;
        } else {
            break;
        }
    }
    return value;
}

/* The 20 % of "50 - 20 %" are those of 50, as on a pocket calculator. */
static bool eat_percent(struct sum *sum, double of, double *out)
{
    struct words *words = sum->words;
    size_t begin = words->next;
    if (words_eat_number(words, out) && words_eat(words, PERCENT) &&
        (words_ended(words) || words_eat(words, "off"))) {
        *out *= of / 100;
        return true;
    }
    words->next = begin;
    return false;
}

static double read_sum(struct sum *sum)
{
    double value = read_product(sum);
    while (!sum->failed) {
        double sign = eat(sum, "+|plus|added to|más|mas|più|mais|piu") ? 1
                      : eat(sum, "-|minus|moins|menos|meno|min")       ? -1
                                                                       : 0;
        double part;
        if (sign == 0)
            break;
        if (!eat_percent(sum, value, &part))
            part = read_product(sum);
        value = added(sum, value, sign * part);
    }
    return value;
}

/* "3, 5 and 10". A comma within a number is doubtful here: "10,20 and 30" may be three. */
static size_t read_list(struct sum *sum, double values[static LIST_MAX])
{
    size_t count = 0;
    do {
        bool negative = words_eat(sum->words, "-|minus");
        const struct word *word = &sum->words->at[sum->words->next];
        if (count == LIST_MAX || words_ended(sum->words) ||
            str_find(word->text, STR(","), 0) != SIZE_MAX ||
            !words_eat_number(sum->words, &values[count])) {
            fail(sum);
            return 0;
        }
        if (negative)
            values[count] = -values[count];
        count++;
    } while (words_eat(sum->words, ", and|,|and|und|et|y|e"));
    return count;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* "the average of 3, 5 and 10" */
static bool read_of_list(struct sum *sum, double *out)
{
    static const struct {
        const char *words;
        char what;
    } kinds[] = {
        {"the average of|average of|the mean of|mean of|average|mean", 'a'},
        {"the median of|median of|median", 'm'},
        {"the sum of|sum of|the total of|total of|sum|total|add up|add", '+'},
        {"the product of|product of", '*'},
        {"the largest of|largest of|the biggest of|biggest of|the highest of|the maximum of|"
         "maximum of|max of|the greatest of",
         '>'},
        {"the smallest of|smallest of|the lowest of|the minimum of|minimum of|min of", '<'},
    };
    double values[LIST_MAX], total = 0, product = 1;
    size_t begin = sum->words->next;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!eat(sum, kinds[i].words))
            continue;
        words_eat(sum->words, "the numbers|numbers|:");
        size_t count = read_list(sum, values);
        if (count < 2 || !words_ended(sum->words)) {
            sum->words->next = begin;
            sum->failed = false;
            return false;
        }
        for (size_t j = 0; j < count; j++) {
            total = added(sum, total, values[j]);
            product = kinds[i].what == '*' ? held(sum, product * values[j]) : 1;
        }
        qsort(values, count, sizeof *values, compare);
        double middle = (values[(count - 1) / 2] + values[count / 2]) / 2;
        *out = kinds[i].what == '+'   ? total
               : kinds[i].what == '*' ? product
               : kinds[i].what == 'a' ? total / (double)count
               : kinds[i].what == 'm' ? middle
               : kinds[i].what == '>' ? values[count - 1]
                                      : values[0];
        return true;
    }
    return false;
}

/* "add 3 and 4", "the product of 3 and 4" */
static double read_told(struct sum *sum)
{
    static const struct {
        const char *verb, *between;
        char sign;
    } told[] = {
        {"add|the sum of|sum of", "and|to", '+'},
        {"multiply|the product of|product of", "and|by|with", '*'},
        {"divide|split", "by|between|among", '/'},
        {"subtract|take away|take", "from", '-'},
        {"increase|raise", "by", '>'},
        {"decrease|reduce|lower", "by", '<'},
        {"the difference between|the difference of", "and", '='},
    };
    double of_list;
    if (read_of_list(sum, &of_list))
        return of_list;
    if (eat(sum, "the factorial of|factorial of"))
        return factorial(sum, read_atom(sum));
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        if (!eat(sum, told[i].verb))
            continue;
        const struct word *first = &sum->words->at[sum->words->next];
        double a = read_power(sum);
        if (told[i].sign == '/')
            words_eat_end(sum->words, "ways|people|persons|friends|of us");
        bool moved = told[i].sign == '>' || told[i].sign == '<';
        bool listed =
            !moved && first->kind == WORD_NUMBER && str_find(first->text, STR(","), 0) != SIZE_MAX;
        if (listed || !words_eat(sum->words, told[i].between)) /* "10,20 and 30" are three */
            return fail(sum);
        double b;
        if (!moved || !eat_percent(sum, a, &b)) /* "increase 80 by 10 %" */
            b = read_power(sum);
        switch (told[i].sign) {
        case '>':
        case '+':
            return added(sum, a, b);
        case '*':
            return held(sum, a * b);
        case '/':
            return b == 0 ? fail(sum) : a / b;
        case '-':
            return added(sum, b, -a);
        case '<':
            return added(sum, a, -b);
        default:
            return fabs(added(sum, a, -b));
        }
    }
    return read_sum(sum);
}

/* Whether numbers stand glued to their signs as in a date, a score, a range or a telephone number:
 * such a text is a sum only when somebody asks for its result. */
static bool is_ambiguous(const struct words *words)
{
    unsigned slashes = 0, dashes = 0;
    for (size_t i = words->next; i < words->count; i++) {
        const struct word *word = &words->at[i];
        bool inside = word->kind == WORD_SIGN && word->glued && i + 1 < words->count &&
                      words->at[i + 1].glued;
        slashes += inside && word->text.data[0] == '/';
        dashes += inside && word->text.data[0] == '-';
    }
    if (slashes == 1 && words->count - words->next == 3) { /* 144/12, but not 9/11 */
        double by = words->at[words->next + 2].value;
        return by == 0 || fmod(words->at[words->next].value, by) != 0;
    }
    if (dashes == 1 && words->count - words->next == 3) /* 250-75, but not 10-12 */
        return words->at[words->next].value <= words->at[words->next + 2].value;
    return slashes + dashes > 0 && words->count - words->next <= 7;
}

/* What is a name or a telephone number even behind "what is": 9/11, 24/7, 50/50, 555-1234. */
static bool is_name(const struct words *words)
{
    static const char *const names[] = {"9 / 11", "24 / 7", "50 / 50",      "20 / 20", "7 / 11",
                                        "7 - 11", "4 / 20", "24 / 7 / 365", "50 - 50", "9 - 11"};
    struct words rest = *words;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rest.next = words->next;
        bool glued = rest.count > rest.next + 1 && rest.at[rest.next + 1].glued;
        if (glued && words_eat(&rest, names[i]) && words_ended(&rest))
            return true;
    }
    unsigned dashes = 0;
    bool long_part = false;
    for (size_t i = words->next; i < words->count; i++) {
        const struct word *word = &words->at[i];
        long_part |= word->kind == WORD_NUMBER && word->text.len >= 4;
        dashes += word->kind == WORD_SIGN && word->glued && word->text.data[0] == '-';
    }
    bool local_number = dashes == 1 && words->count == words->next + 3 &&
                        words->at[words->next].text.len == 3 &&
                        words->at[words->next + 2].text.len == 4;
    return local_number || (dashes >= 2 && long_part);
}

/* What asks for a result, in front of a sum and behind it. */
#define ASKS                                                                                       \
    "what is|what's|whats|wat is|what are|what does|what do we get for|what do i get for|how "     \
    "much is|"                                                                                     \
    "how much does|how much are|calculate|compute|evaluate|determine|work out|solve|find|do|give|" \
    "the result of|the value of|the result|result of|value of|the following|this|the expression|"  \
    "expression|the sum :|the answer to|sum :|task|problem|input|answer|result|arithmetic|q|"      \
    "answer with a number|answer with the number only|number only|only the number|just the "       \
    "number|"                                                                                      \
    "just the result|give me only the result|value =|value|what|is|was ist|wie viel ist|wieviel "  \
    "ist|"                                                                                         \
    "wie viel sind|wieviel sind|was macht|rechne|berechne|combien font|combien fait|calcule|"      \
    "calculer|quel est|cuánto es|cuanto es|cuánto son|calcula|quanto fa|quanto è|quanto é|il|" \
    "el|hoeveel is|hur mycket är|ile to jest|ile jest|:|."
#define WAITS                                                                                     \
    "answer with the number only|reply with just the number|and reply with the number|"           \
    "just the number|only the number|number only|just the result|the result|solve this|come to|"  \
    "in digits|calculate|solution|answer|result|number|value|equals|equal|makes|make|gives|give|" \
    "is|a|=|?|:|."

#define SHARE "what percent|what percentage|what %|how many percent"

/* "what percent of 200 is 50", "50 is what percent of 200", "50 out of 200 as a percentage" */
static bool answer_share(struct words words, struct buf *out)
{
    struct sum sum = {.words = &words};
    double part, whole;
    words_eat(&words, "what is|what's|whats|calculate");
    if (words_eat(&words, SHARE)) {
        words_eat(&words, "of");
        whole = read_atom(&sum);
        part = words_eat(&words, "is|are") ? read_atom(&sum) : fail(&sum);
    } else {
        part = read_atom(&sum);
        bool asks =
            words_eat(&words, "is|are") && words_eat(&words, SHARE) && words_eat(&words, "of");
        bool tells = !asks && words_eat(&words, "out of|of");
        whole = asks || tells ? read_atom(&sum) : fail(&sum);
        if (tells && !words_eat(&words, "in percent|as a percentage|as percentage|as a percent|"
                                        "as percent|in %|as %"))
            return false;
    }
    return !sum.failed && words_ended(&words) && whole > 0 &&
           words_write_number(out, part / whole * 100, 2) && (buf_append_char(out, '%'), true);
}

bool arithmetic_answer(struct words *words, struct buf *out)
{
    struct sum sum = {.words = words};
    bool asked = false;
    size_t begin = words->next;
    if (answer_share(*words, out))
        return true;
    sum.italian = words_eat(words, "quanto");
    words->next = begin;
    while (words_eat(words, ASKS))
        asked = true;
    while (words_eat_end(words, WAITS))
        asked = true;
    if (is_name(words) || (!asked && is_ambiguous(words)))
        return false;
    double value = read_told(&sum);
    return !sum.failed && sum.operations > 0 && words_ended(words) && isfinite(value) &&
           words_write_number(out, value, DECIMALS);
}
