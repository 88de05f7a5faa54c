/* A question is an order around a text. The order may hold nothing but words that orders are made
 * of, and one form; anything else is another question. The text is marked: it stands behind a
 * colon or a line's end, in quotation marks, or before "in FORM". */
#include "instant/writing.h"

#include "base/core/ascii.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"

/* Words of a name for programs. */
#define PARTS_MAX 40

enum form {
    FORM_UPPER,
    FORM_LOWER,
    FORM_TITLE,
    FORM_SNAKE,
    FORM_KEBAB,
    FORM_CAMEL,
    FORM_PASCAL,
    FORM_CONSTANT,
    FORM_COMMAS,
    FORM_BULLETS,
    FORM_NUMBERS,
};

static const struct {
    const char *names; /* phrases of words_eat */
    enum form form;
} forms[] = {
    {"upper snake case|screaming_snake_case|screaming snake case|constant case|constant_case",
     FORM_CONSTANT},
    {"lower snake case|snake_case|snake case", FORM_SNAKE},
    {"kebab - case|kebab case", FORM_KEBAB},
    {"lower camel case|camelcase|camel case", FORM_CAMEL},
    {"pascalcase|pascal case|upper camel case", FORM_PASCAL},
    {"upper case|upper - case|uppercase|capital letters|all caps|block capitals|capitals|"
     "großbuchstaben|majuscules|mayúsculas",
     FORM_UPPER},
    {"all lower case|lower case|lower - case|lowercase|small letters|kleinbuchstaben|minuscules|"
     "minúsculas",
     FORM_LOWER},
    {"title case|title - case|titlecase|initial capitals|initial caps", FORM_TITLE},
    {"comma separated list|comma - separated list|comma separated", FORM_COMMAS},
    {"bulleted list|bullet list|bullet points|bullets", FORM_BULLETS},
    {"numbered list", FORM_NUMBERS},
};

/* "PascalCase" and "camelCase" differ in one letter, which words_eat does not see. */
static bool eat_form(struct words *words, enum form *out)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (words_eat(words, forms[i].names)) {
            const struct word *word = &words->at[words->next - 1];
            bool pascal = forms[i].form == FORM_CAMEL && str_equal(word->text, STR("CamelCase"));
            *out = pascal ? FORM_PASCAL : forms[i].form;
            return true;
        }
    return false;
}

/* Verbs that may also ask for a new text: "reply in upper case: what is the capital of France?" */
#define CREATES                                                                            \
    "write|bring|give|show|return|print|type|reply|use|using|apply|i need|i want|we need|" \
    "i would like|need|want"
/* What points at the text that is to be written in another way. */
#define POINTS                                                                                \
    "this|it|these|that|the following|following|below|text|sentence|phrase|words|line|lines|" \
    "items|input|esto|das"
#define ORDER                                                                                 \
    "can you|could you|would you|please|kindly|bitte|make|turn|convert|change|put|rewrite|"   \
    "format|reformat|transform|repeat|how does|look|the|word|list|name|output|target|wanted|" \
    "style|form|task|all|same|in|into|to|as|for|on|a|of|me|from|with|letters|case|and|"       \
    "schreibe|schreib|den|mets|escribe|en|,|.|?|:|-"

/* Where the text stands that an order is about. */
enum place {
    BESIDE,    /* behind a colon or a line's end: it may also be what a new text is about */
    BEFORE,    /* any text may stand before an order of form */
    POINTED_AT /* in quotation marks */
};

/* Whether an order is made of its usual words and of exactly one form, and is about the text in
 * this place. */
static bool read_order(struct td_str text, enum place place, enum form *out)
{
    struct words words;
    size_t count = 0;
    bool creates = false, points = place == POINTED_AT;
    if (!words_read(text, &words))
        return false;
    while (!words_ended(&words)) {
        if (eat_form(&words, out))
            count++;
        else if (words_eat(&words, CREATES))
            creates = true;
        else if (words_eat(&words, POINTS))
            points = true;
        else if (!words_eat(&words, ORDER))
            return false;
    }
    return count == 1 && (points || (place == BESIDE && !creates));
}

/* --- writing --- */

enum letter_case { KEPT, UPPER, LOWER };

/* Upper case of a letter: ASCII, Latin-1, and the alphabets whose cases stand 1, 32 or 80 apart. */
static uint32_t upper_of(uint32_t c)
{
    static const uint32_t steps[] = {32, 1, 80};
    if (c < 0x80)
        return (uint32_t)ascii_upper((int)c);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (c > steps[i] && unicode_lower(c - steps[i]) == c)
            return c - steps[i];
    return c;
}

static void put(struct buf *out, uint32_t c, enum letter_case wanted)
{
    char bytes[4];
    if (wanted == UPPER)
        c = upper_of(c);
    else if (wanted == LOWER)
        c = unicode_lower(c);
    buf_append(out, bytes, utf8_encode(c, bytes));
}

static void put_text(struct buf *out, struct td_str text, enum letter_case first,
                     enum letter_case rest)
{
    for (size_t at = 0; at < text.len;) {
        bool begins = at == 0;
        put(out, utf8_next(text, &at), begins ? first : rest);
    }
}

/* What is written with two letters in upper case (ß) or has none is not ours. */
static bool has_plain_cases(struct td_str text)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at);
        bool cased = c == 0xB5 || (c >= 0xDF && c < 0x250 && c != 0xF7 && c != 0xD7) ||
                     (c >= 0x370 && c < 0x588) || (c >= 0x1E00 && c < 0x2000) ||
                     (c >= 0xFB00 && c < 0xFB07);
        if (cased && upper_of(c) == c && unicode_lower(c) == c)
            return false;
    }
    return str_find(text, STR("ß"), 0) == SIZE_MAX;
}

/* Each word with a capital; white space stays. */
static void put_title(struct buf *out, struct td_str text)
{
    bool inside = false;
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at);
        put(out, c, inside ? LOWER : UPPER);
        inside = c != ' ' && c != '\n' && c != '\t' && c != '-';
    }
}

static bool is_part(char c)
{
    return ascii_is_alnum(c) || (unsigned char)c >= 0x80;
}

/* The words of a name: letters and digits. False when there are too many, or other signs than those
 * between names. */
static bool name_parts(struct td_str text, struct td_str parts[static PARTS_MAX], size_t *count)
{
    *count = 0;
    for (size_t at = 0; at < text.len;) {
        unsigned char c = (unsigned char)text.data[at];
        if (c == ' ' || c == '-' || c == '_' || c == '.' || c == '\'' || c == '"') {
            at++;
            continue;
        }
        size_t begin = at;
        while (at < text.len && is_part(text.data[at])) {
            bool capital = at > begin && ascii_is_upper(text.data[at]);
            bool hump = capital && ascii_is_lower(text.data[at - 1]);
            bool behind_acronym = capital && ascii_is_upper(text.data[at - 1]) &&
                                  at + 1 < text.len && ascii_is_lower(text.data[at + 1]);
            if (hump || behind_acronym) /* getUserName and getHTTPResponse have three */
                break;
            at++;
        }
        if (at == begin || *count == PARTS_MAX)
            return false;
        parts[(*count)++] = str_slice(text, begin, at);
    }
    return *count > 0;
}

static bool put_name(struct buf *out, struct td_str text, enum form form)
{
    struct td_str parts[PARTS_MAX];
    size_t count;
    if (!name_parts(text, parts, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool humps = form == FORM_CAMEL || form == FORM_PASCAL;
        if (i > 0 && !humps)
            buf_append_char(out, form == FORM_KEBAB ? '-' : '_');
        enum letter_case rest = form == FORM_CONSTANT ? UPPER : LOWER;
        bool capital = form == FORM_PASCAL || (form == FORM_CAMEL && i > 0);
        put_text(out, parts[i], capital ? UPPER : rest, rest);
    }
    return true;
}

/* An item without the mark that it has in its list: "- ", "* ", "3. " */
static struct td_str unmarked(struct td_str item)
{
    size_t at = 0;
    item = str_trim(item);
    while (at < item.len && ascii_is_digit(item.data[at]))
        at++;
    bool numbered = at > 0 && at < item.len && (item.data[at] == '.' || item.data[at] == ')');
    bool dashed = at == 0 && item.len > 0 && (item.data[0] == '-' || item.data[0] == '*');
    if ((numbered || dashed) && at + 1 < item.len && item.data[at + 1] == ' ')
        return str_trim(str_slice(item, at + 2, item.len));
    return item;
}

/* Where the next comma is that parts items; the one of "3,500" parts none. */
static size_t find_comma(struct td_str text)
{
    size_t at = str_find(text, STR(","), 0);
    while (at != SIZE_MAX && at > 0 && at + 1 < text.len && ascii_is_digit(text.data[at - 1]) &&
           ascii_is_digit(text.data[at + 1]))
        at = str_find(text, STR(","), at + 1);
    return at;
}

/* Takes the next item off a sentence's list: "a, b and c". Without a comma "and" parts nothing:
 * "pros and cons of tea" is one item. */
static bool next_item(struct td_str *rest, bool first, struct td_str *item)
{
    size_t end = find_comma(*rest), len = 1;
    if (end == SIZE_MAX && !first) {
        end = str_find(*rest, STR(" and "), 0);
        len = 5;
    }
    if (rest->len == 0 || (first && end == SIZE_MAX))
        return false;
    *item = str_slice(*rest, 0, end == SIZE_MAX ? rest->len : end);
    *rest = end == SIZE_MAX ? (struct td_str){NULL, 0} : str_slice(*rest, end + len, rest->len);
    return true;
}

/* Lines, or else what stands between commas. A list of JSON is another thing. */
static bool put_list(struct buf *out, struct td_str text, enum form form)
{
    bool lines = str_find(text, STR("\n"), 0) != SIZE_MAX;
    struct td_str rest = text, item;
    size_t number = 0;
    if (text.data[0] == '[' || text.data[0] == '{')
        return false;
    while (lines ? str_next(&rest, '\n', &item) : next_item(&rest, number == 0, &item)) {
        item = unmarked(item);
        if (item.len == 0)
            continue;
        if (number++ > 0)
            buf_append_str(out, form == FORM_COMMAS ? STR(", ") : STR("\n"));
        if (form == FORM_BULLETS)
            buf_append_str(out, STR("- "));
        else if (form == FORM_NUMBERS)
            buf_printf(out, "%zu. ", number);
        buf_append_str(out, item);
    }
    return number > 1;
}

static bool write(struct buf *out, struct td_str text, enum form form)
{
    switch (form) {
    case FORM_UPPER:
        put_text(out, text, UPPER, UPPER);
        return has_plain_cases(text);
    case FORM_LOWER:
        put_text(out, text, LOWER, LOWER);
        return true;
    case FORM_TITLE:
        put_title(out, text);
        return has_plain_cases(text);
    case FORM_COMMAS:
    case FORM_BULLETS:
    case FORM_NUMBERS:
        return put_list(out, text, form);
    default:
        return put_name(out, text, form);
    }
}

/* --- questions --- */

static struct td_str unquoted(struct td_str text)
{
    struct td_str fence = STR("\"\"\"");
    text = str_trim(text);
    if (text.len > 6 && str_starts_with(text, fence) && str_ends_with(text, fence))
        return str_trim(str_slice(text, 3, text.len - 3));
    bool quoted = text.len >= 2 && text.data[0] == text.data[text.len - 1] &&
                  (text.data[0] == '"' || text.data[0] == '\'');
    return quoted ? str_slice(text, 1, text.len - 1) : text;
}

/* What names the text and is no part of it. */
static struct td_str unlabelled(struct td_str text)
{
    static const char *const labels[] = {"text:", "input:", "items:", "list:", "words:", "line:"};
    text = str_trim(text);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        size_t len = strlen(labels[i]);
        if (str_equal_nocase(str_slice(text, 0, len), str_from(labels[i])))
            return str_slice(text, len, text.len);
    }
    return text;
}

/* "make this uppercase: ...", or the order on a line of its own */
static bool after_order(struct td_str question, struct td_str *text, enum form *form)
{
    size_t colon = str_find(question, STR(":"), 0), line = str_find(question, STR("\n"), 0);
    size_t at = colon < line ? colon : line;
    if (at == SIZE_MAX)
        return false;
    struct td_str rest = str_trim(unlabelled(str_slice(question, at + 1, question.len)));
    enum place place = str_starts_with(rest, STR("\"\"\"")) ? POINTED_AT : BESIDE;
    *text = unquoted(rest);
    return text->len > 0 && read_order(str_slice(question, 0, at), place, form);
}

/* The same with the order as the last line */
static bool before_order(struct td_str question, struct td_str *text, enum form *form)
{
    size_t at = question.len;
    while (at > 0 && question.data[at - 1] != '\n')
        at--;
    if (at == 0 || !read_order(str_slice(question, at, question.len), BEFORE, form))
        return false;
    *text = unquoted(unlabelled(str_slice(question, 0, at)));
    return text->len > 0;
}

/* "turn "user login count" into snake_case" */
static bool in_quotes(struct td_str question, struct td_str *text, enum form *form)
{
    char order[160];
    size_t begin = str_find(question, STR("\""), 0);
    size_t end = begin == SIZE_MAX ? begin : str_find(question, STR("\""), begin + 1);
    if (end == SIZE_MAX || question.len - (end - begin) >= sizeof order)
        return false;
    memcpy(order, question.data, begin);
    memcpy(order + begin, question.data + end + 1, question.len - end - 1);
    *text = str_slice(question, begin + 1, end);
    return text->len > 0 &&
           read_order((struct td_str){order, begin + question.len - end - 1}, POINTED_AT, form);
}

/* "my new file name in kebab case": a name for programs, and no question */
static bool before_form(struct td_str question, struct td_str *text, enum form *form)
{
    struct words words;
    if (!words_read(question, &words) || str_find(question, STR("\n"), 0) != SIZE_MAX ||
        str_find(question, STR("\""), 0) != SIZE_MAX)
        return false;
    words_eat_end(&words, "please");
    while (words_eat_end(&words, "?|.|,"))
        ;
    words_eat(&words, "write|convert|turn|put|format|what is|what's|whats");
    if (words_eat(&words,
                  "how|why|when|where|who|which|what|is|are|do|does|can|could|would|should|will|i|"
                  "please|kindly|this|it|the text|explain|use|make|give|show|list|create|tell|"
                  "generate|translate|describe|summarize|summarise|name|suggest|propose|rename|"
                  "pick|choose|need|python|function|best"))
        return false;
    for (size_t i = 0; i < words.count; i++) /* a sign that is read as another one is not ours */
        if ((uintptr_t)words.at[i].text.data - (uintptr_t)question.data >= question.len)
            return false;
    size_t first = words.next;
    for (size_t i = first + 1; i + 1 < words.count; i++) {
        words.next = i;
        if (!words_eat(&words, "in|to|into|as") || !eat_form(&words, form) || !words_ended(&words))
            continue;
        const struct word *last = &words.at[i - 1];
        size_t begin = (size_t)(words.at[first].text.data - question.data);
        size_t end = (size_t)(last->text.data + last->text.len - question.data);
        *text = unquoted(str_slice(question, begin, end));
        return *form >= FORM_SNAKE && *form <= FORM_CONSTANT && text->len > 0;
    }
    return false;
}

bool writing_answer(struct td_str question, struct buf *out)
{
    enum form form;
    struct td_str text;
    question = str_trim(question);
    if (!utf8_is_valid(question))
        return false;
    return (after_order(question, &text, &form) || before_order(question, &text, &form) ||
            in_quotes(question, &text, &form) || before_form(question, &text, &form)) &&
           write(out, text, form);
}

bool writing_digits(struct words *words, struct buf *out)
{
    double value;
    while (words_eat(words, "write|convert|put|give|turn|what is|what's|whats|:"))
        ;
    bool spelled = !words_ended(words) && words->at[words->next].kind == WORD_LETTERS;
    if (!spelled || !words_eat_number(words, &value) || !words_eat(words, "in|as|to|into|with") ||
        !words_eat(words, "digits|numbers|numerals|figures|a number"))
        return false;
    return words_ended(words) && words_write_number(out, value, 0);
}
