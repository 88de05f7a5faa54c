/* Which words of a private value identify a person by themselves. A name in a path or in the first
 * part of a mail address does; "info" or "green" does not. The functions with `names` ask the
 * tagger's word list which words are names. Pure; any thread. */
#ifndef PRIVACY_IDENTIFYING_WORDS_H
#define PRIVACY_IDENTIFYING_WORDS_H

#include "privacy/names/name_finder.h"

#define IDENTIFYING_PARTS_MAX 8

/* Is the name an ordinary word, too? At another place it may mean just that. */
bool identifying_words_is_common(struct td_str word);

/* Is the word of a name no word of the language? Then it is a name in small letters, too. */
bool identifying_words_is_handle(const struct name_finder *names, struct td_str word);

/* What of a mail address identifies its owner: first the part before the @, then each run of
 * letters in it that is long enough and only a name. Returns how many; 0 for "sales.team@".
 * **borrows** the address. */
size_t identifying_words_of_mail(const struct name_finder *names, struct td_str address,
                                 struct td_str parts[static IDENTIFYING_PARTS_MAX]);

/* Is the text one run of letters? */
bool identifying_words_is_one(struct td_str text);

/* Is the word part of a path, a host, a file's name or a handle? Then a sign such as "/" or "_"
 * stands before it, or stands between it and another word. */
bool identifying_words_is_joined(struct td_str text, size_t begin, size_t end);

#endif
