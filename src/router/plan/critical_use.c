#include "router/plan/critical_use.h"

#include "base/core/str.h"

#include <ctype.h>
#include <string.h>

/* Words begin with one of these. Names are short, so a list of beginnings tells enough. */
bool critical_use_named(const char *name)
{
    static const char *const beginnings[] = {"medic",  "clinic", "health", "patient", "diagnos",
                                             "pharma", "legal",  "lawyer", "contract"};
    for (const char *word = name; *word;) {
        while (*word && !isalpha((unsigned char)*word))
            word++;
        size_t len = 0;
        while (isalpha((unsigned char)word[len]))
            len++;
        for (size_t i = 0; len && i < sizeof beginnings / sizeof *beginnings; i++) {
            size_t wanted = strlen(beginnings[i]);
            if (len >= wanted &&
                str_equal_nocase((struct td_str){word, wanted}, str_from(beginnings[i])))
                return true;
        }
        word += len;
    }
    return false;
}
