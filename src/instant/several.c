/* What is asked stands in one of the first sentences of a message, else in its last; the rest is
 * the text that it is asked of, whose words say nothing. There a verb is followed by a list of
 * things. Behind "extract" everything counts that is no instruction itself ("extract the date and
 * write it as ISO" asks for one thing). Behind verbs of many uses, such as "what is", only those
 * lists count whose things are often values of a text ("the date and the place"). */
#include "instant/several.h"

#include "base/core/ascii.h"
#include "base/text/utf8.h"
#include "instant/words.h"

#include <string.h>

/* Longer sentences are texts, not what is asked of them. */
#define SENTENCE_BYTES_MAX 240
#define SENTENCES_MAX 3
#define THING_WORDS_MAX 5

#define BEFORE                                                                                    \
    "please|can you|could you|would you|will you|i need you to|i want you to|hey|hi|hello|ok|so|" \
    "and|now|then|bitte|por favor|your task is to|the task|task|you|to|text|input|message|,|:|-|*"
/* Who asks so wants values of a text. */
#define TAKES \
    "extract|pull out|parse out|parse|pick out|extrahiere|extrais|extrayez|extrae|extraer|estrai"
/* What follows says which values. */
#define ALL "data|information|values|fields|details|structured data"
/* Who asks so may want them. */
#define ASKS                                                                                       \
    "find me|find|get me|get|give me|give|show me|show|tell me|list|return|read|identify|detect|"  \
    "collect|pull|take|copy|note|look up|what are|what is|what's|whats|which are|i need|i want|"   \
    "determine|name|state|classify by|classify|label|tag|categorize|categorise|finde|gib mir|gib|" \
    "nenne|was ist|was sind|wie lauten|quels sont|quelles sont|donne|cuáles son|dame|quali sono"
#define ARTICLES                                                                               \
    "the|a|an|all of the|all the|all|every|each|both the|both|any|its|his|her|their|our|your|" \
    "which|the following|das|die|den|der|le|la|les|el|los|las|il|lo|i|gli"
#define BETWEEN \
    ", and|, as well as|,|;|and also|and|&|as well as|along with|plus|+|/|und|sowie|et|y|e"
/* Where the list has ended. */
#define BEHIND                                                                                 \
    "from|in|out of|below|as|with|within|contained|mentioned|that|which|for this|for the|for|" \
    "if|aus|im|dans|de este|en|del|:|.|?|!|(|\"|=|-"
/* What begins an instruction about the answer, not another thing. */
#define HOW                                                                                       \
    "nothing|no|not|only|just|return|write|answer|give|output|reply|respond|say|tell|print|show|" \
    "put|use|leave|ignore|format|normalise|normalize|convert|copy|keep|do|don't|then|without|"    \
    "state|make|translate|replace|remove|i|it|else|please|thanks|bitte|or|otherwise|including|"   \
    "add|spell|round|rewrite|sort|"                                                               \
    "nichts|gib|schreibe|antworte"
/* What is to be done with a text as a whole, whose words then ask for nothing. */
#define CHANGES                                                                                   \
    "rewrite|translate|summarize|summarise|correct|paraphrase|convert|change|reply with|respond " \
    "with|answer with|is this|is the|is it|does this|does the|make|decide|fix"
/* What texts hold, and the same where a text holds many. */
#define THING                                                                                      \
    "date|dates|time|amount|price|total|sum|name|surname|email|mail|phone|telephone|number|"       \
    "address|city|country|place|location|customer|client|sender|recipient|author|company|firm|"    \
    "currency|product|item|quantity|url|link|website|deadline|invoice|order|id|subject|intent|"    \
    "sentiment|topic|language|tone|mood|emotion|category|urgency|priority|age|datum|betrag|preis|" \
    "uhrzeit|telefonnummer|nummer|adresse|montant|prix|fecha|importe|monto|nombre|data|importo"
#define MANY                                                                                \
    "emails|mails|dates|amounts|prices|names|numbers|addresses|phones|urls|links|websites|" \
    "languages|companies|cities|countries"
/* What asks for one label of the text behind it, without a verb: "Labels: ...". */
#define HEADS                                                                                 \
    "label|labels|intent|topic|class|classes|category|categories|sentiment|language|options|" \
    "absicht|kategorie|sprache|langue|idioma"
/* Several labels of one list. */
#define LABELS                                                                                  \
    "that apply|all applicable|all matching|multiple labels|several labels|all labels|all the " \
    "labels|one or more labels|more than one label"

/* A sign within a word, as in "e-mail". */
static bool is_inside(const struct words *words)
{
    const struct word *word = &words->at[words->next];
    return words->next + 1 < words->count && word->glued && word[1].glued &&
           word->text.data[0] == '-';
}

static bool is_next(struct words *words, const char *alternatives)
{
    size_t at = words->next;
    bool found = words_eat(words, alternatives);
    words->next = at;
    return found;
}

/* Eats one thing of the list. *known: one of its words is a THING; *many: its last is of MANY. */
static bool eat_thing(struct words *words, bool *known, bool *many)
{
    size_t count = 0;
    *known = *many = false;
    while (words_eat(words, ARTICLES))
        ;
    if (is_next(words, HOW) || is_next(words, BEHIND)) /* ", if any", ", in EUR" */
        return false;
    for (; !words_ended(words); words->next++, count++) {
        bool sign = words->at[words->next].kind == WORD_SIGN;
        if (sign ? !is_inside(words)
                 : count > 0 && (is_next(words, BETWEEN) || is_next(words, BEHIND)))
            break;
        *many = is_next(words, MANY);
        *known |= *many || is_next(words, THING);
    }
    return count > 0 && count <= THING_WORDS_MAX;
}

/* "Which labels apply", "urgent/not urgent and billing/technical". *head: it has one of HEADS. */
static bool asks_for_labels(struct words *words, bool *head)
{
    size_t begin = words->next;
    unsigned state = 0; /* "/", "and", "/" */
    bool asks = false;
    *head = false;
    for (; !words_ended(words); words->next++) {
        *head |= is_next(words, HEADS);
        asks |= is_next(words, LABELS);
        state += is_next(words, state == 1 ? "and" : "/");
    }
    words->next = begin;
    return asks || (state >= 3 && is_next(words, "classify|label|tag|categorize|categorise"));
}

/* stop: the sign behind it. */
static enum asked look_at(struct td_str sentence, char stop)
{
    struct words words;
    sentence = str_slice(sentence, 0, SENTENCE_BYTES_MAX);
    sentence.len = utf8_valid_prefix(sentence);
    if (!words_read(sentence, &words))
        return ASKED_NOTHING;
    while (words_eat(&words, BEFORE))
        ;
    bool head, asks = stop == ':' || stop == '?';
    if (asks_for_labels(&words, &head))
        return ASKED_SEVERAL;
    if (words_eat(&words, CHANGES))
        return ASKED_ONE;
    bool takes = words_eat(&words, TAKES), known, many;
    bool verb = takes || words_eat(&words, ASKS);
    if (takes && words_eat(&words, ALL) && words_ended(&words)) /* "You extract data." */
        return ASKED_NOTHING;
    unsigned things = 0, unknown = 0, lists = 0;
    while (eat_thing(&words, &known, &many)) {
        things++;
        unknown += !known;
        lists += many;
        if (!words_eat(&words, BETWEEN))
            break;
    }
    bool listed = things > 1 && (takes || unknown == 0);
    if (verb)
        return lists > 0 || listed ? ASKED_SEVERAL : ASKED_ONE;
    if (!asks)
        return ASKED_NOTHING;
    return listed ? ASKED_SEVERAL : head ? ASKED_ONE : ASKED_NOTHING; /* "Date and amount?" */
}

/* The end of the sentence that begins at `at`. */
static size_t sentence_end(struct td_str text, size_t at)
{
    for (; at < text.len && text.data[at] != '\n'; at++) {
        bool stops = memchr(".:!?", text.data[at], 4) != NULL;
        if (stops && (at + 1 == text.len || ascii_is_space(text.data[at + 1])))
            break;
    }
    return at;
}

bool several_in_json(struct td_str text)
{
    for (size_t at = 0; at + 4 <= text.len; at++)
        if (str_equal_nocase(str_slice(text, at, at + 4), STR("json")))
            return true;
    return false;
}

enum asked several_asked(struct td_str text)
{
    text = str_trim(text);
    size_t begin = 0;
    if (several_in_json(text))
        return ASKED_ONE;
    for (unsigned i = 0; begin < text.len; i++) {
        size_t end = sentence_end(text, begin);
        struct td_str sentence = str_slice(text, begin, end);
        bool looked = i < SENTENCES_MAX || end + 1 >= text.len;
        enum asked asked =
            looked ? look_at(sentence, end < text.len ? text.data[end] : '.') : ASKED_NOTHING;
        if (asked != ASKED_NOTHING)
            return asked;
        for (begin = end + 1; begin < text.len && ascii_is_space(text.data[begin]); begin++)
            ;
    }
    return ASKED_NOTHING;
}
