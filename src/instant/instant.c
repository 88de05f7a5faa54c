/* Courtesy is taken off the question, then each kind of question is tried. */
#include "instant/instant.h"

#include "instant/arithmetic.h"
#include "instant/dates.h"
#include "instant/emails.h"
#include "instant/talk.h"
#include "instant/units.h"
#include "instant/words.h"
#include "instant/writing.h"

/* What people say around a question, in front of it and behind it. */
#define BEFORE                                                                                   \
    "please|hey|hi|hello|ok|okay|so|and|quick|can you|could you|would you|will you|do you know|" \
    "tell me|give me|show me|let me know|i need to know|i want to know|i need|i want|"           \
    "i would like to know|what the answer to|bitte|kannst du mir sagen|sag mir|por favor|dime|"  \
    "s'il te plaît|s'il vous plaît|dis - moi|per favore|dimmi|,|."
#define BEHIND                                                              \
    "please|thanks|thank you|for me|exactly|bitte|danke|por favor|gracias|" \
    "s'il te plaît|s'il vous plaît|merci|per favore|grazie|?|!|.|,"

/* Dates come before sums: 2024-06-01 is a date, not 2017. */
static bool (*const kinds[])(struct words *, struct buf *) = {dates_answer, units_answer,
                                                              arithmetic_answer, writing_digits};

/* Words of questions in languages that part decimals with a comma. */
static bool is_continental(const struct words *words)
{
    struct words rest = *words;
    for (rest.next = 0; !words_ended(&rest); rest.next++)
        if (words_eat(&rest, "wie|viel|viele|wieviel|was|ist|sind|macht|mal|durch|rechne|berechne|"
                             "grad|combien|font|fait|fois|quel|cuánto|cuántos|cuánta|cuántas|"
                             "cuanto|cuantos|más|quanto|quanti|quante|fa|sono|più|mais|são|"
                             "hoeveel|keer|hur|gånger|ile|razy|kaç"))
            return true;
    return false;
}

bool instant_answer(struct td_str question, bool alone, struct buf *out)
{
    struct words words;
    size_t before = out->len;
    if (question.len == 0 || question.len > INSTANT_QUESTION_BYTES_MAX)
        return false;
    if (!words_read(question, &words))
        words.count = words.next = 0; /* many words: only a text to rewrite has so many */
    if (alone && words.count > 0 && talk_answer(&words, out) && !out->failed)
        return true;
    buf_truncate(out, before);
    while (words_eat(&words, BEFORE))
        ;
    while (words_eat_end(&words, BEHIND))
        ;
    size_t begin = words.next, count = words.count;
    if (words_have_doubtful_number(&words) && is_continental(&words))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        words.next = begin;
        words.count = count;
        if (kinds[i](&words, out) && !out->failed)
            return true;
        buf_truncate(out, before);
    }
    if (writing_answer(question, out) && !out->failed)
        return true;
    buf_truncate(out, before);
    if (emails_answer(question, out) && !out->failed)
        return true;
    buf_truncate(out, before);
    return false;
}
