/* Questions that code answers, and those near them that it must leave to the model. */
#include "instant/instant.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>

struct row {
    const char *question, *answer; /* NULL: not one of ours */
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buf out;
        buf_init(&out, 1 << 16);
        buf_append_char(&out, '>');
        bool known = instant_answer(str_from(rows[i].question), true, &out);
        struct td_str said = str_slice(buf_view(&out), 1, out.len);
        bool right = rows[i].answer ? known && str_equal(said, str_from(rows[i].answer))
                                    : !known && said.len == 0;
        CHECK(right);
        if (!right)
            fprintf(stderr, "\"%s\" gave \"" STR_FMT "\"\n", rows[i].question, STR_ARG(said));
        buf_deinit(&out);
    }
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

static void test_sums_in_signs_and_words(void)
{
    static const struct row rows[] = {
        {"12*7", "84"},
        {"what is 12*7", "84"},
        {"What's 17% of 340?", "57.8"},
        {"how much is 5 + 5 * 2", "15"},
        {"(3+4)*5", "35"},
        {"2^10", "1024"},
        {"2**8", "256"},
        {"-3 + 5", "2"},
        {"0.1+0.2", "0.3"},
        {"1,250 + 1", "1251"},
        {"2,5 * 2", "5"},
        {"1234567 * 7654321", "9449772114007"},
        {"2 / 3 =", "0.666667"},
        {"144/12", "12"},
        {"250-75", "175"},
        {"12 : 4", "3"},
        {"what is 10/4", "2.5"},
        {"what is 12-5", "7"},
        {"what is 10-3-2", "5"},
        {"what is .25 * 4", "1"},
        {".5 + 1", "1.5"},
        {"0.001 * 0.0001", "0.0000001"},
        {"1 / 10000000", "0.0000001"},
        {"0.0015 * 0.0015", "0.00000225"},
        {"0.1 + 0.2 - 0.3", "0"},
        {"12345678901.10 + 0.20", "12345678901.3"},
        {"was ist 0,125 mal 8", "1"},
        {"0,500 + 1", "1.5"},
        {"quanto fa 7 per 8", "56"},
        {"3x4", "12"},
        {"what is 20% off 80", "64"},
        {"50 minus 20%", "40"},
        {"200 + 10%", "220"},
        {"what's 15 percent tip on 48", "7.2"},
        {"half of 250", "125"},
        {"a third of 90", "30"},
        {"what's 3/4 of 100", "75"},
        {"double 21", "42"},
        {"average of 3, 5 and 10", "6"},
        {"what is the median of 9, 1, 4 and 2", "3"},
        {"sum of 10, 20 and 30", "60"},
        {"add 1, 2, 3, 4", "10"},
        {"what is the largest of 3, 9, 4", "9"},
        {"smallest of 3, -9 and 4", "-9"},
        {"the product of 2, 3 and 4", "24"},
        {"5 factorial", "120"},
        {"factorial of 18", "6402373705728000"},
        {"split 90 by 4", "22.5"},
        {"split 90 between 4 people", "22.5"},
        {"the square root of 1764", "42"},
        {"7 squared", "49"},
        {"seven times eight", "56"},
        {"what is twenty-one plus four", "25"},
        {"what is a hundred minus one", "99"},
        {"What is the sum of 3 and 4?", "7"},
        {"subtract 5 from 12", "7"},
        {"divide 12 by 4", "3"},
        {"hey, can you tell me what 100 minus 37 is please", "63"},
        {"Wie viel ist 12 geteilt durch 4?", "3"},
        {"combien fait 7 fois 8 ?", "56"},
        {"¿Cuánto es 15 más 27?", "42"},
        {"15 % von 80", "12"},
        {"Sum: 76 x 6", "456"},
        {"97 × 1\nJust the result", "97"},
        {"What does 45 - 8 make? Just the number.", "37"},
        {"Work out 47 minus 9 and reply with the number.", "38"},
    };
    CHECK_ROWS(rows);
}

static void test_what_only_looks_like_a_sum_is_none(void)
{
    static const struct row rows[] = {
        {"9/11", NULL},
        {"24/7", NULL},
        {"10/3", NULL},
        {"7-11", NULL},
        {"555-0142", NULL},
        {"1-800-555-0199", NULL},
        {"2024-06-01", NULL},
        {"3/4/2024", NULL},
        {"4:30", NULL},
        {"covid-19", NULL},
        {"average of 10,20 and 30", NULL},
        {"average of", NULL},
        {"average of 5", NULL},
        {"19 factorial", NULL},
        {"2.5 factorial", NULL},
        {"half of the class", NULL},
        {"20% off", NULL},
        {"split the bill between 4 people", NULL},
        {"what is 9/11?", NULL},
        {"What is 24/7?", NULL},
        {"what is 50/50", NULL},
        {"what is 7-11", NULL},
        {"what is 1-800-273-8255?", NULL},
        {"find 555-1234", NULL},
        {"what is the sum of 10,20 and 30", NULL},
        {"add 100,200 and 300", NULL},
        {"evaluate 3x - 5", NULL},
        {"what is 2x-4", NULL},
        {"what is 300 per 12", NULL},
        {"1 + 2^60 - 2^60", NULL},
        {"99999999999999999 - 99999999999999998", NULL},
        {"wie viel ist 1.500 plus 500", NULL}, /* one and a half thousand, or one and a half? */
        {"wie viel ist 1,500 plus 500", NULL},
        {"7", NULL},
        {"seven", NULL},
        {"what is x times 3", NULL},
        {"solve 3x + 7 = 22", NULL},
        {"is 5 > 3", NULL},
        {"7 divided by 0", NULL},
        {"1 / (2 - 2)", NULL},
        {"99999999*99999999", NULL},
        {"9^999", NULL},
        {"99999999999999999999999 + 1", NULL},
        {"((((((((((((((((((((1+1))))))))))))))))))))", NULL},
        {"5 +", NULL},
        {"(5 + 3", NULL},
        {"12 * 7 apples", NULL},
        {"a + b", NULL},
        {"5 5", NULL},
        {"", NULL},
        {" ? ", NULL},
        {"what is love", NULL},
        {"\xff\xfe 1 + 1", NULL},
    };
    CHECK_ROWS(rows);
}

static void test_quantities_of_two_units(void)
{
    static const struct row rows[] = {
        {"5 miles and 3 feet to metres", "8047.63 m"},
        {"3 hours and 20 minutes in seconds", "12000 seconds"},
        {"2 lb 3 oz in kg", "0.992 kg"},
        {"how many seconds are in 2 hours and 5 minutes?", "7500 seconds"},
        {"convert 5 miles and 3 feet", NULL},
        {"5 miles and 3 km in feet", NULL}, /* two quantities */
        {"10 km and 5 miles in feet", NULL},
        {"1 hour and 90 minutes in seconds", NULL},
        {"20 c and 5 c in f", NULL},
        {"5 miles and in km", NULL},
    };
    CHECK_ROWS(rows);
}

static void test_sums_and_dates_that_are_told_to_be_changed(void)
{
    static const struct row rows[] = {
        {"what is the square of 12?", "144"},
        {"cube root of 27", "3"},
        {"increase 80 by 10%", "88"},
        {"raise 1,000 by 5%", "1050"},
        {"raise 50 by 5", "55"},
        {"decrease 200 by 15 percent", "170"},
        {"take 3 from 10", "7"},
        {"add 3 weeks to 2024-02-10", "2024-03-02"},
        {"subtract 10 days from 5 March 2024", "24 February 2024"},
        {"take 2 months from 2024-03-31", "2024-01-31"},
        {"what percent of 200 is 50", "25%"},
        {"what percentage of 60 is 15?", "25%"},
        {"50 is what % of 200?", "25%"},
        {"1 out of 3 in percent", "33.33%"},
        {"15 out of 60", NULL},
        {"50 is 200", NULL},
        {"what percent of people is happy", NULL},
        {"what percent of 0 is 5", NULL},
        {"what percent of 200 is 50 and 20", NULL},
        {"10% of 200 in percent", NULL},
        {"wat is 3 + 4", "7"},
        {"increase 80 by 10% and 5", NULL},
        {"increase my limit by 10%", NULL},
        {"add 3 weeks", NULL},
        {"add 3 weeks from 2024-02-10", NULL},
        {"subtract 10 days to 5 March 2024", NULL},
        {"square of a circle", NULL},
    };
    CHECK_ROWS(rows);
}

static void test_units(void)
{
    static const struct row rows[] = {
        {"Convert 5 km to miles", "3.11 mi"},
        {"10 miles in km", "16.09 km"},
        {"How many kilometers is 5 miles?", "8.05 km"},
        {"how many feet in a mile", "5280 ft"},
        {"how many seconds are in a day", "86400 seconds"},
        {"24 hours in days", "1 day"},
        {"5'11\" in cm", "180.34 cm"},
        {"5 ft 11 in cm", "180.34 cm"},
        {"6 ft 2 in in cm", "187.96 cm"},
        {"5 in in cm", "12.7 cm"},
        {"100 kmh in mph", "62.14 mph"},
        {"72F in C", "22.22 °C"},
        {"-40 F in C", "-40 °C"},
        {"what is 37.5 degrees celsius in fahrenheit", "99.5 °F"},
        {"3 mm in inches", "0.118 in"},
        {"750 ml in litres", "0.75 l"},
        {"1 GB in MB", "1000 MB"},
        {"how many weeks are in 100 days", "14.29 weeks"},
        {"Wie viel sind 50 kg in Pfund (lb)?", "110.23 lb"},
        {"Rechne 10 km in Meilen um", "6.21 mi"},
        {"combien font 20 miles en km", "32.19 km"},
        {"cuántos kilómetros son 30 millas", "48.28 km"},
        {"Target unit: miles\nQuantity: 5 km", "3.11 mi"},
        {"It says 82 kilometer. Express that in mi.", "50.95 mi"},
        {"-18 Grad Fahrenheit\nconvert to celsius.", "-27.78 °C"},
        {"9 Fuß = ? Zoll", "108 in"},
        {"300 kelvin in celsius", "26.85 °C"},
        {"0 c in kelvin", "273.15 K"},
        {"80 f in kelvin", "299.82 K"},
        {"32 F in C", "0 °C"},
        {"convert .5 kg to g", "500 g"},
        {"how many cm are in .5 inches", "1.27 cm"},
        {"0,125 km in m", "125 m"},
        {"-300 C in K", NULL},
        {"-1 kelvin in celsius", NULL},
        {"wie viele km sind 2.500 m", NULL},
        {"what is 5 in cm", "12.7 cm"}, /* five inches: what else? */
        {"10 dollars in euros", NULL},
        {"3 kg in litres", NULL},
        {"20 degrees in fahrenheit", NULL}, /* of which scale? */
        {"50 kg in Pfund", NULL},           /* a German pound is 500 g */
        {"5 km 3 miles in m", NULL},
        {"km in miles", NULL},
        {"how many km is a 5k in Rome", NULL},
        {"-5 km in miles", NULL},
        {"5 km", NULL},
        {"how many km from Rome to Milan", NULL},
    };
    CHECK_ROWS(rows);
}

static void test_dates(void)
{
    static const struct row rows[] = {
        {"what day is 10 days after 3 March 2024?", "13 March 2024"},
        {"45 days after January 31 2024", "March 16, 2024"},
        {"What is the date 30 days after 2024-06-01?", "2024-07-01"},
        {"5 days before March 10, 2025", "March 5, 2025"},
        {"1 month after 31 January 2023", "28 February 2023"},
        {"2024-02-29 + 1 year", "2025-02-28"},
        {"31.12.2023 + 1 day", "01.01.2024"},
        {"12/31/2023 + 1 day", "01/01/2024"},
        {"a week after December 28, 2023", "January 4, 2024"},
        {"3 semaines après 1 mai 2023", "22 May 2023"},
        {"Starting from May 9, 2043, what is the date 6 days earlier?", "May 3, 2043"},
        {"The date is 2019-10-24. What is the date 26 days later?", "2019-11-19"},
        {"6 Jan 2020 - 4 days = ?", "2 January 2020"},
        {"Difference in days: 9 November 2022 and 11 November 2022", "2 days"},
        {"days between 1/1/2024 and 12/31/2024", "365 days"},
        {"how many weeks between 2024-01-01 and 2024-01-29", "4 weeks"},
        {"how many days from 1900-02-28 to 1900-03-01", "1 day"},
        {"10 days after 25/12/2024", "04/01/2025"},
        {"10 days after 03/04/2024", NULL}, /* in March or in April? */
        {"what day of the week was 03/04/2024", NULL},
        {"how many days from June 1 2024 through June 20 2024", NULL}, /* 20: both ends count */
        {"how many days from 2000-02-28 to 2000-03-01", "2 days"},
        {"what day of the week was 14 July 1789", "Tuesday"},
        {"write 3 march 2024 as iso", "2024-03-03"},
        {"convert 25/12/2021 to ISO format", "2021-12-25"},
        {"2022-11-05 in words please", "November 5, 2022"},
        {"4:30 pm in 24 hour time", "16:30"},
        {"Time: 3:30 AM\n24h:", "03:30"},
        {"Normalise this date to ISO 8601: 3 March 2024", "2024-03-03"},
        {"12:05 am in 24-hour format", "00:05"},
        {"17:45 in 12 hour format", "5:45 PM"},
        {"12:30 in 12 hour format", "12:30 PM"},
        {"00:05 in 12 hour format", "12:05 AM"},
        {"2024-02-30 + 1 day", NULL},
        {"2023-02-29 + 1 day", NULL},
        {"10 days from now", NULL},
        {"how many days until christmas", NULL},
        {"how many days in february", NULL},
        {"9999-12-31 + 1 day", NULL},
        {"0001-01-01 - 1 day", NULL},
        {"0001-01-01 + 0 days", "0001-01-01"},
        {"2024-01-01 + 99999999 days", NULL},
        {"2024-01-01 + 1.5 days", NULL},
        {"25:00 in 12 hour format", NULL},
    };
    CHECK_ROWS(rows);
}

/* Against the counting of days one by one. */
static void test_each_day_of_four_centuries_has_a_next_one(void)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 1899, month = 12, day = 31;
    for (int i = 0; i < 146100; i++) {
        char question[64], answer[32];
        snprintf(question, sizeof question, "%04d-%02d-%02d + 1 day", year, month, day);
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        if (++day > lengths[month - 1] + (month == 2 && leap)) {
            day = 1;
            year += month == 12;
            month = month % 12 + 1;
        }
        snprintf(answer, sizeof answer, "%04d-%02d-%02d", year, month, day);
        if (i % 7 == 0 || day == 1)
            check_rows(&(struct row){question, answer}, 1);
    }
}

static void test_other_ways_of_writing(void)
{
    static const struct row rows[] = {
        {"uppercase: hello world", "HELLO WORLD"},
        {"make this uppercase: please close the door", "PLEASE CLOSE THE DOOR"},
        {"WRITE THIS IN LOWERCASE: ÄPFEL UND ÖL", "äpfel und öl"},
        {"put \"élan vital\" in upper case", "ÉLAN VITAL"},
        {"Title case: the old man and the sea", "The Old Man And The Sea"},
        {"turn \"user login count\" into snake_case", "user_login_count"},
        {"convert \"getUserName\" to snake_case", "get_user_name"},
        {"my new file name in kebab case", "my-new-file-name"},
        {"camelCase for: total order price", "totalOrderPrice"},
        {"PascalCase: total order price", "TotalOrderPrice"},
        {"CamelCase: total order price", "TotalOrderPrice"},
        {"constant case: total order price", "TOTAL_ORDER_PRICE"},
        {"turn this into a comma separated list:\nmilk\neggs\nbread", "milk, eggs, bread"},
        {"make it a bulleted list: apples, pears, plums", "- apples\n- pears\n- plums"},
        {"numbered list: a, b", "1. a\n2. b"},
        {"write four hundred and twelve in digits", "412"},
        {"two million three hundred thousand and five in digits", "2300005"},
        {"Exam time\n\nTurn it into upper case.", "EXAM TIME"},
        {"Text: owe neighbor\nConvert the text to SCREAMING_SNAKE_CASE.", "OWE_NEIGHBOR"},
        {"Use Title Case.\n\"\"\"\nthis local why\n\"\"\"", "This Local Why"},
        {"Please write this as a numbered list:\n\n- Lisbon\n* tea", "1. Lisbon\n2. tea"},
        {"bullet list: lamp, run and course", "- lamp\n- run\n- course"},
        {"make a numbered list: 3,500 apples, 2 pears", "1. 3,500 apples\n2. 2 pears"},
        {"convert \"getHTTPResponse\" to snake_case", "get_http_response"},
        {"Reply in uppercase: what is the capital of France?", NULL},
        {"Tell me a joke.\nUse all caps.", NULL},
        {"Write a haiku about rain.\nAll lowercase please.", NULL},
        {"Give me a numbered list: pros and cons of remote work", NULL},
        {"bullet points: pros and cons of remote work", NULL},
        {"Use bullet points.\nWhat is the difference between TCP and UDP?", NULL},
        {"Compare cats, dogs and birds.\nUse bullet points.", NULL},
        {"uppercase: καλός ώρα", NULL}, /* the letter at the end of a word */
        {"uppercase: iğdır ılık", NULL},
        {"uppercase: ÿ ﬁn", NULL},
        {"my new file” in kebab case", NULL},
        {"name a variable for user count in camelCase", NULL},
        {"python function to reverse a string in snake_case", NULL},
        {"bullet list: [\"lamp\", \"run\"]", NULL},
        {"Could \"this\" be a camel case", NULL},
        {"how do i write a function in camel case", NULL},
        {"write a poem in uppercase", NULL},
        {"translate this to uppercase: abc", NULL},
        {"uppercase and lowercase: abc", NULL},
        {"put \"straße\" in upper case", NULL}, /* ß has no single capital */
        {"uppercase:", NULL},
        {"uppercase", NULL},
        {"bulleted list: one", NULL},
        {"snake_case: a + b", NULL},
    };
    CHECK_ROWS(rows);
}

#define CAN                                                                                    \
    "I can convert units and dates, do sums, pull values out of a text, rewrite it, name its " \
    "language, and label it with labels that you give. Other questions need a larger model."

static void test_addresses_of_a_text(void)
{
    static const struct row rows[] = {
        {"extract the email: write me at joe@example.com", "joe@example.com"},
        {"Extract the email address from \"contact bob@corp.com today\"", "bob@corp.com"},
        {"what is the email in this text? Anna wrote from anna.smith@example.org.",
         "anna.smith@example.org"},
        {"Extract the e-mail from this message: Hi, it's Jo! jo_99@mail.co.uk", "jo_99@mail.co.uk"},
        {"extract all emails: a@x.com, b@y.org and c@z.net", "a@x.com, b@y.org, c@z.net"},
        {"list the e-mail addresses\njoe@x.com\nJOE@x.com", "joe@x.com"},
        {"extract the email: joe@x.com or ann@x.com", NULL}, /* which? */
        {"extract the email and the phone: joe@x.com 555", NULL},
        {"extract the email of Bob: bob@x.com", NULL},
        {"extract the email in uppercase: joe@x.com", NULL},
        {"extract the email: joe@x.com\nAnswer in JSON.", NULL},
        {"Extract the email from \"write to Ann@Example.org now\" and write it in lower case",
         NULL},
        {"List all emails in this text:\nb@x.de, a@y.de\n\nOne per line, sorted.", NULL},
        {"Extract all email addresses:\nbob@x.com, ann@y.com\nReturn only those at y.com.", NULL},
        {"What is the email in \"a@b.com\"? Answer with the domain only.", NULL},
        {"Extract the email: \"a@b.com\" (lower case)", NULL},
        {"extract the email: \"a@b.com", NULL},
        {"extract the email: \"a@b.com\".", "a@b.com"},
        {"extract the email: none here", NULL},
        {"extract the email: joe@localhost", NULL},
        {"extract the email: j\xc3\xb6rg@x.com", NULL},
        {"extract the email: joe@x.com and @home", NULL},
        {"extract the email: joe@x.com1", NULL},
        {"extract the email: @", NULL},
        {"extract the email:", NULL},
        {"email: joe@x.com", NULL},
    };
    CHECK_ROWS(rows);
}

static void test_talk(void)
{
    static const struct row rows[] = {
        {"hi", "Hello! " CAN},
        {"Hello there!", "Hello! " CAN},
        {"hey, how are you?", "Hello! " CAN},
        {"thanks!", "You're welcome!"},
        {"great, thank you so much", "You're welcome!"},
        {"bye", "Goodbye!"},
        {"ok thanks, bye", "You're welcome!"},
        {"What can you do?", CAN},
        {"hi, what can you do?", CAN},
        {"help", CAN},
        {"who are you?", "I am Tandem's small on-device model."},
        {"Hallo, wer bist du?", "Ich bin das kleine Modell von Tandem auf diesem Gerät."},
        {"Danke!", "Gern geschehen!"},
        {"Merci beaucoup", "De rien !"},
        {"Qui es-tu ?", "Je suis le petit modèle local de Tandem."},
        {"¿Quién eres?", "Soy el pequeño modelo local de Tandem."},
        {"arrivederci", "Arrivederci!"},
        {"hi, what is 2 + 2?", "4"},
        {"thanks for the fish", NULL},
        {"help me with my homework", NULL},
        {"who are you voting for", NULL},
        {"good morning America lyrics", NULL},
        {"bye bye birdie", NULL},
        {"say hello", NULL},
        {"and so", NULL},
    };
    CHECK_ROWS(rows);
    struct buf out;
    buf_init(&out, 1000);
    CHECK(!instant_answer(STR("who are you?"), false, &out) && out.len == 0);
    CHECK(instant_answer(STR("2 + 2"), false, &out));
    buf_deinit(&out);
}

/* No length, no nesting and no row of one word costs more than a look. */
static void test_long_questions_are_left_alone(void)
{
    enum { SIZE = 100000 };
    static const char *const beginnings[] = {
        "",         "what is ", "1+",  "(",  "a hundred and ", "-",
        "convert ", "km ",      "in ", "\"", "uppercase: ",    "list all emails: a@b.cd "};
    char *text = malloc(SIZE);
    if (!text)
        abort();
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t part = strlen(beginnings[i]), len = 0;
        while (len + part + 1 < SIZE && (part > 0 || len < 1)) {
            memcpy(text + len, part ? beginnings[i] : "1", part ? part : 1);
            len += part ? part : 1;
        }
        struct buf out;
        buf_init(&out, 1 << 20);
        CHECK(!instant_answer((struct td_str){text, len}, true, &out) || len < 3);
        instant_answer((struct td_str){text, INSTANT_QUESTION_BYTES_MAX < len
                                                 ? INSTANT_QUESTION_BYTES_MAX
                                                 : len},
                       true, &out);
        buf_deinit(&out);
    }
    free(text);
}

static void test_an_answer_that_has_no_room_is_none(void)
{
    struct buf out;
    buf_init(&out, 8);
    CHECK(!instant_answer(STR("uppercase: this is longer than that"), true, &out));
    buf_deinit(&out);
}

int main(void)
{
    RUN(test_sums_in_signs_and_words);
    RUN(test_what_only_looks_like_a_sum_is_none);
    RUN(test_quantities_of_two_units);
    RUN(test_sums_and_dates_that_are_told_to_be_changed);
    RUN(test_units);
    RUN(test_dates);
    RUN(test_each_day_of_four_centuries_has_a_next_one);
    RUN(test_other_ways_of_writing);
    RUN(test_addresses_of_a_text);
    RUN(test_talk);
    RUN(test_long_questions_are_left_alone);
    RUN(test_an_answer_that_has_no_room_is_none);
    return test_finish();
}
