/* Two risks stand against each other: a word that identifies somebody is missed, or an ordinary
 * word is replaced all over a text. Three sources decide: the tagger's word list, the lexicon of
 * the detectors, and short lists here of names that are ordinary words and of mailboxes that belong
 * to no person. */
#include "privacy/pseudonym/identifying_words.h"

#include "base/core/str.h"
#include "privacy/text/spell.h"
#include "privacy/words/lexicon.h"

#define LOCAL_SIGNS_MIN 5
#define PIECE_SIGNS_MIN 5

bool identifying_words_is_common(struct td_str word)
{
    static const char *const words[] = {
        "will",   "mark",   "grace",     "hope",    "rose",   "april",  "june",    "july",
        "august", "bill",   "jack",      "frank",   "rich",   "dean",   "grant",   "chase",
        "hunter", "mason",  "young",     "long",    "brown",  "white",  "black",   "green",
        "king",   "price",  "wood",      "woods",   "hill",   "field",  "banks",   "stone",
        "rice",   "page",   "park",      "parks",   "lane",   "best",   "good",    "bush",
        "cook",   "baker",  "carter",    "miller",  "taylor", "smart",  "strong",  "sharp",
        "swift",  "short",  "small",     "little",  "north",  "west",   "east",    "south",
        "summer", "autumn", "winter",    "church",  "bishop", "knight", "major",   "pearl",
        "ruby",   "daisy",  "violet",    "heather", "joy",    "faith",  "charity", "dawn",
        "star",   "angel",  "christian", "pierce",  "drew",   "wade",   "sage",    "reed",
        "rivers", "brooks", "forest",    "glass",   "gold",   "silver", "love",    "moon",
        "noble",  "powers", "wise",      "case"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal_nocase(word, str_from(words[i])))
            return true;
    return false;
}

/* What the tagger's list says of a word. */
static uint16_t classes_of(const struct name_finder *names, struct td_str text)
{
    struct tagger_reader reader;
    struct tagger_word word;
    tagger_reader_init(&reader, text);
    return tagger_read(&reader, &word) ? name_finder_classes(names, word.hash) : 0;
}

static bool is_in_lexicon(struct td_str word)
{
    lexicon_init();
    return lexicon_find(lexicon_hash(word.data, word.len), word.data, word.len) != NULL;
}

/* Mailboxes that are nobody's: RFC 2142's and their like. */
static bool is_role(struct td_str word)
{
    static const char *const roles[] = {
        "info",       "marketing", "sales",      "support", "abuse",   "security", "postmaster",
        "hostmaster", "usenet",    "news",       "www",     "uucp",    "ftp",      "webmaster",
        "contact",    "office",    "admin",      "service", "billing", "accounts", "newsletter",
        "noreply",    "reply",     "no",         "help",    "jobs",    "mail",     "hello",
        "user",       "users",     "team",       "test",    "root",    "kontakt",  "correo",
        "accounting", "press",     "helpdesk",   "orders",  "privacy", "legal",    "donotreply",
        "careers",    "customer",  "operations", "staff",   "example", "reception"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (str_equal_nocase(word, str_from(roles[i])))
            return true;
    return false;
}

bool identifying_words_is_handle(const struct name_finder *names, struct td_str word)
{
    uint16_t language =
        CLASS_ORDINARY | CLASS_FUNCTION | CLASS_PARTICLE | CLASS_TITLE | CLASS_TIME_PEOPLE;
    return (classes_of(names, word) & language) == 0 && !is_in_lexicon(word) &&
           !identifying_words_is_common(word) && !is_role(word);
}

/* Is the word known as a name of people, and as nothing else? */
static bool is_only_name(const struct name_finder *names, struct td_str word)
{
    return (classes_of(names, word) & ~(CLASS_GIVEN | CLASS_SURNAME)) == 0 &&
           identifying_words_is_handle(names, word);
}

/* The next run of letters from the offset on; empty at the end. */
static struct td_str next_run(struct td_str text, size_t offset)
{
    struct sign sign = spell_at(text, offset, false);
    while (sign.kind != SIGN_LETTER && sign.kind != SIGN_END)
        sign = spell_at(text, sign.end, false);
    size_t begin = sign.begin, end = begin;
    for (; sign.kind == SIGN_LETTER; sign = spell_at(text, sign.end, false))
        end = sign.end;
    return str_slice(text, begin, end);
}

size_t identifying_words_of_mail(const struct name_finder *names, struct td_str address,
                                 struct td_str parts[static IDENTIFYING_PARTS_MAX])
{
    size_t at = str_find(address, STR("@"), 0), count = 1;
    parts[0] = str_slice(address, 0, at == SIZE_MAX ? 0 : at);
    if (spell_count(parts[0]) < LOCAL_SIGNS_MIN)
        return 0;
    bool tells = false;
    struct td_str run = next_run(parts[0], 0);
    for (; run.len > 0; run = next_run(parts[0], (size_t)(run.data + run.len - parts[0].data))) {
        size_t letters = spell_count(run);
        bool name = letters >= 3 && is_only_name(names, run);
        tells |= name;
        if (name && letters >= PIECE_SIGNS_MIN && count < IDENTIFYING_PARTS_MAX)
            parts[count++] = run;
    }
    return tells ? count : 0;
}

bool identifying_words_is_one(struct td_str text)
{
    return next_run(text, 0).len == text.len;
}

static bool is_joint(char c)
{
    return c != '\0' && strchr("/\\@._-#=~+&", c) != NULL;
}

bool identifying_words_is_joined(struct td_str text, size_t begin, size_t end)
{
    if (begin > 0 && is_joint(text.data[begin - 1]))
        return true;
    if (end >= text.len || !is_joint(text.data[end]))
        return false;
    struct sign next = spell_at(text, end + 1, false);
    return spell_is_significant(&next);
}
