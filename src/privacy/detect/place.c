/* The words around a place. */
#include "privacy/detect/detect.h"

static bool context_in(const char *data, size_t len, const char *const *words)
{
    for (; *words != NULL; words++)
        for (size_t i = 0; i < len; i++) {
            if (i > 0 && is_alnum((unsigned char)data[i - 1]))
                continue;
            size_t matched = 0;
            while ((*words)[matched] != '\0' && i + matched < len &&
                   to_lower((unsigned char)data[i + matched]) == (*words)[matched])
                matched++;
            if ((*words)[matched] == '\0')
                return true;
        }
    return false;
}

bool context_before(struct td_str text, size_t offset, size_t reach, const char *const *words)
{
    size_t begin = offset > reach ? offset - reach : 0;
    return context_in(text.data + begin, offset - begin, words);
}

bool place_context_after(const struct place *place, size_t end, int kind)
{
    size_t at = end;
    for (int i = 0; i < 5; i++) {
        struct word word = word_after(place->text, at, 3);
        if (word.begin == word.end || word.digits)
            return false;
        for (const struct lexicon_entry *e = word.entry; e != NULL; e = lexicon_next(e))
            if (e->context == kind && e->previous == NULL)
                return true;
        at = word.end;
    }
    return false;
}
