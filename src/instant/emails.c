/* The question is one sentence, understood to its last word, and the text is what stands behind it
 * or in quotes. An address is what most programs take for one: letters, digits and a few signs of
 * ASCII, an @, and a name with a point in it. A text with anything else around an @ is left to the
 * model, and so is one with several addresses of which one is wanted. */
#include "instant/emails.h"

#include "base/core/ascii.h"
#include "base/text/utf8.h"
#include "instant/several.h"
#include "instant/words.h"

#include <string.h>

#define ADDRESSES_MAX 32
#define QUESTION_BYTES_MAX 160

#define BEFORE "please|can you|could you|hey|hi|hello|ok|,"
#define ASKS                                                                                  \
    "extract|pull out|find me|find|get me|get|give me|give|show me|show|tell me|list|return|" \
    "read|identify|what are|what is|what's|whats|which is|which are"
#define ARTICLES "the|an|all of the|all the|all|every|any|me"
#define ONE "e - mail address|email address|e - mail|email|mail address"
#define MANY "e - mail addresses|email addresses|e - mails|emails|mail addresses"
#define BEHIND                                                                              \
    "from|in|of|out of|within|contained|mentioned|found|here|the|this|that|following|text|" \
    "message|sentence|letter|note|string|line|below|please|,"

/* How instructions about the answer begin. */
#define INSTRUCTS                                                                                 \
    "please|answer|return|reply|respond|write|give|output|print|show|list|sort|use|put|only|one|" \
    "just|format|convert|separate|don't|do|without|no|in|as|leave|ignore|then|extract|all|each|"  \
    "everything|lowercase|uppercase|make|keep|replace|remove|the domain|mask"
#define INSTRUCTION_BYTES 60

/* Where the text begins; 0 where the question asks for something else. *all: for all of them. */
static size_t text_begin(struct td_str question, bool *all)
{
    struct words words;
    size_t end = 0;
    while (end < question.len && end < QUESTION_BYTES_MAX &&
           !memchr(":?\n\"", question.data[end], 4))
        end++;
    if (end == question.len || !words_read(str_slice(question, 0, end), &words))
        return 0;
    while (words_eat(&words, BEFORE))
        ;
    if (!words_eat(&words, ASKS))
        return 0;
    while (words_eat(&words, ARTICLES))
        ;
    *all = words_eat(&words, MANY);
    if (!*all && !words_eat(&words, ONE))
        return 0;
    while (words_eat(&words, BEHIND))
        ;
    return words_ended(&words) ? end : 0;
}

/* Whether something is asked behind the text, too: behind its quotes, or in a sentence that begins
 * as instructions do. */
static bool asks_behind(struct td_str text)
{
    struct words words;
    size_t at = 0;
    while (at < text.len && memchr(":?\n ", text.data[at], 4))
        at++;
    if (at < text.len && text.data[at] == '"') {
        size_t close = str_find(text, STR("\""), at + 1);
        for (at = close; at < text.len; at++)
            if (ascii_is_letter(text.data[at]) || (text.data[at] & 0x80))
                return true;
        return close == SIZE_MAX;
    }
    for (; at < text.len; at++) {
        bool begins = memchr(".!?\n", text.data[at], 4) != NULL;
        struct td_str behind = str_trim(str_slice(text, at + 1, text.len));
        behind = str_slice(behind, 0, INSTRUCTION_BYTES);
        behind.len = utf8_valid_prefix(behind);
        if (begins && words_read(behind, &words) && words_eat(&words, INSTRUCTS))
            return true;
    }
    return false;
}

static bool is_local(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || (c && strchr("._%+-", c));
}

static bool is_domain(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '.' || c == '-';
}

/* The address around the @, or an empty text. */
static struct td_str address_at(struct td_str text, size_t at)
{
    struct td_str none = {NULL, 0};
    size_t begin = at, end = at + 1, last;
    while (begin > 0 && is_local(text.data[begin - 1]))
        begin--;
    while (end < text.len && is_domain(text.data[end]))
        end++;
    bool foreign =
        (begin > 0 && (text.data[begin - 1] & 0x80)) || (end < text.len && (text.data[end] & 0x80));
    while (end > at + 1 && strchr(".-", text.data[end - 1])) /* the sentence's point */
        end--;
    for (last = end; last > at + 1 && ascii_is_letter(text.data[last - 1]); last--)
        ;
    bool dotted = last > at + 2 && text.data[last - 1] == '.' && end - last >= 2;
    bool clean = begin < at && text.data[begin] != '.' && text.data[at - 1] != '.' &&
                 text.data[at + 1] != '.' && text.data[at + 1] != '-';
    return dotted && clean && !foreign ? str_slice(text, begin, end) : none;
}

bool emails_answer(struct td_str question, struct buf *out)
{
    struct td_str found[ADDRESSES_MAX];
    size_t count = 0;
    bool all;
    size_t begin = text_begin(question, &all);
    if (begin == 0 || several_in_json(question))
        return false;
    struct td_str text = str_slice(question, begin, question.len);
    if (asks_behind(text))
        return false;
    for (size_t at = str_find(text, STR("@"), 0); at != SIZE_MAX;
         at = str_find(text, STR("@"), at + 1)) {
        struct td_str address = address_at(text, at);
        size_t same = 0;
        while (same < count && !str_equal_nocase(found[same], address))
            same++;
        if (address.len == 0 || count == ADDRESSES_MAX)
            return false;
        if (same == count)
            found[count++] = address;
    }
    if (count == 0 || (count > 1 && !all))
        return false;
    for (size_t i = 0; i < count; i++) {
        buf_append_str(out, i > 0 ? STR(", ") : STR(""));
        buf_append_str(out, found[i]);
    }
    return true;
}
