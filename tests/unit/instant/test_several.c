/* Which questions ask for several things at once, and which only hold a list. The first wordings of
 * each were known when the words were chosen; those behind "unseen" were written afterwards. */
#include "instant/several.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_all(const char *const *rows, size_t count, bool wanted)
{
    for (size_t i = 0; i < count; i++) {
        bool several = several_asked(str_from(rows[i])) == ASKED_SEVERAL;
        CHECK(several == wanted);
        if (several != wanted)
            fprintf(stderr, "\"%s\"\n", rows[i]);
    }
}
#define CHECK_ALL(rows, wanted) check_all(rows, sizeof(rows) / sizeof *(rows), wanted)

static void test_lists_of_values_are_several_things(void)
{
    static const char *const rows[] = {
        "extract the date and the amount: Invoice of 3 May 2026 over 120 EUR",
        "Extract the date, amount and customer: Invoice of 3 May 2026 over 120 EUR for Miller Ltd.",
        "Extract sender, date, total.\n\nFrom: ACME Corp\nDate: 12 March 2024\nTotal: $1,240.00",
        "What is the amount and the due date? Please pay 99.50 USD by 2024-08-01.",
        "The invoice of 3 May 2026 is over 120 EUR. Extract the date and the amount.",
        "date and amount? Invoice of 3 May 2026 over 120 EUR",
        "Extract the date and amount from the user's message.",
        /* unseen */
        "Hi! Could you please extract the sender's name as well as the e-mail address from this?\n"
        "Best, Ann (ann@x.org)",
        "You are a helpful clerk. Extract the order number and the delivery date.",
        "You extract data. Return the sender, the date and the total.",
        "Order 77 ships on 5 May 2025 to Rome.\n\nGive me the order number, the date and the city",
        "pull out the city & the zip code -> 8000 Zurich",
        "bitte extrahiere den namen und die telefonnummer: Anna, 030 123456",
        "Tell me the price and the currency in \"it costs 20 euros\"",
    };
    CHECK_ALL(rows, true);
}

static void test_all_of_a_kind_are_several_things(void)
{
    static const char *const rows[] = {
        "extract all emails: a@x.com, b@y.org and c@z.net",
        "list the amounts in: rent 900 EUR, food 250 EUR, gas 60 EUR",
        /* unseen */
        "Find every one of the names in this letter: Anna met Bob.",
        "what are the phone numbers in this text? 555-0142, 555-0199",
        "Show me the prices: tea 2 EUR, cake 4 EUR",
    };
    CHECK_ALL(rows, true);
}

static void test_several_labels_are_several_things(void)
{
    static const char *const rows[] = {
        "classify the intent and the sentiment: please cancel my subscription",
        "Classify into urgent/not urgent and billing/technical: My server is down!",
        "label all that apply: angry, happy, sad. I'm so mad and sad",
        /* unseen */
        "Choose all matching tags: sports, politics. The minister opened the match.",
        "Determine the topic and the language of this: La bolsa sube.",
        "Tag it as new/used and cheap/expensive: an old chair for 900 EUR",
    };
    CHECK_ALL(rows, true);
}

static void test_one_thing_with_words_about_it_is_one_thing(void)
{
    static const char *const rows[] = {
        "extract the date and nothing else: Invoice of 3 May 2026 over 120 EUR",
        "extract the date and write it as ISO: Invoice of 3 May 2026",
        "Extract the date, please: The meeting is on 3 May 2024 in Oslo.",
        "What is the phone number in this text? Call on 555-0142, and bring the date and the "
        "amount.",
        "Classify the intent: give me the date and time of my flight and the amount",
        "Labels: billing, shipping\n\nGive me the name and the address of the driver",
        "Which language is this: Extract the date and the amount.",
        "Welche Kategorie passt? travel / work\n\nText: what's the exchange rate between country a "
        "and country b",
        "Banking intent: Can you tell me what countries you operate in?",
        "Extract the date and the amount as JSON: Invoice of 3 May 2026 over 120 EUR",
        "Extract the date, if any: on 3 May 2024",
        "Extract the date, otherwise say none: on 3 May 2024",
        "Extract the phone number, or say none if there is none: call 555-0142",
        "Extract the amount, including the currency: 12 EUR",
        "Extract the amount, in EUR: 12 EUR",
        "Extract the date and add a full stop: on 3 May 2024",
        "Rewrite this in lower case. GIVE ME THE NAME AND THE DATE",
        "Reply with the language of the message. Gib mir das Datum und den Betrag.",
        "Is the text positive, negative or neutral? I need the names and the dates",
        /* unseen */
        "Extract the invoice number. Answer with the number only, without words and signs.",
        "pull out the e-mail, then stop: joe@example.com and Ann",
        "Get the amount from: Anna and Bob owe 12 EUR, due on 3 May",
        "Classify the text. Labels: billing, shipping, other. Where is my parcel and my invoice?",
        "what is the total of 3, 4 and 5",
        "what's 6 times 13?",
        "Choose one label: date, amount. When do we meet?",
        "show me a joke and a poem",
        "hi and thanks",
        "",
        "?",
        "\xff\xfe extract",
    };
    CHECK_ALL(rows, false);
}

/* No length and no row of one word costs more than a look. */
static void test_long_texts_are_looked_at_once(void)
{
    enum { SIZE = 100000 };
    static const char *const parts[] = {
        "extract the date and ", "a, ", "- ", ".", ". ", "\n", "e-", "/ and ", "\xc3\xa4", "\xc3"};
    char *text = malloc(SIZE);
    if (!text)
        abort();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t part = strlen(parts[i]);
        for (size_t at = 0; at < SIZE; at++)
            text[at] = parts[i][at % part];
        CHECK(several_asked((struct td_str){text, SIZE}) != ASKED_SEVERAL || i < 2);
    }
    static const char end[] = ". Extract the date and the amount.";
    memset(text, 'a', SIZE);
    memcpy(text + SIZE - strlen(end), end, strlen(end));
    CHECK(several_asked((struct td_str){text, SIZE}) == ASKED_SEVERAL);
    free(text);
}

int main(void)
{
    RUN(test_lists_of_values_are_several_things);
    RUN(test_all_of_a_kind_are_several_things);
    RUN(test_several_labels_are_several_things);
    RUN(test_one_thing_with_words_about_it_is_one_thing);
    RUN(test_long_texts_are_looked_at_once);
    return test_finish();
}
