/* Forms of address before a name: "Mr. Smith", "dr. Jones", "Frau Müller". */
#include "privacy/detect/detect.h"

#include "privacy/words/lexicon.h"

bool detect_title(const struct place *place, size_t end, struct privacy_span *out)
{
    struct td_str text = place->text;
    struct word self = word_after(text, place->begin, 0);
    bool dot = end < text.len && text.data[end] == '.';
    struct word name = word_after(text, end + dot, 1);
    bool brief = word_in(text, &self, "mr mrs ms mx dr prof mme mlle sr sra rev hon");
    bool named = name.capital && name.begin > end;
    /* "Miss", "General", "St." need a name; "Mr." says it alone */
    if (!(named && (self.capital || brief)) && !(brief && dot && self.capital))
        return false;
    struct word before = word_before(text, place->begin, 1);
    if (word_in(text, &self, "dr st") && before.capital && !dot && before.end > before.begin &&
        !(before.roles & ROLE_TITLE) && place->before == ' ' && name.capital == false)
        return false; /* "12 Oak Dr" */
    bool number = false;
    for (size_t i = end; i < text.len && i < end + 3; i++)
        number |= is_digit((unsigned char)text.data[i]);
    if (number)
        return false;
    *out = (struct privacy_span){
        .kind = PRIVACY_TITLE, .begin = place->begin, .end = end + dot, .score = 0.85f};
    return true;
}
