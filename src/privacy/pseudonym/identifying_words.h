/* Which words of a private value tell of it where they stand by themselves, and where. names: whose
 * word list tells which words are names. Pure; any thread. */
#ifndef PRIVACY_IDENTIFYING_WORDS_H
#define PRIVACY_IDENTIFYING_WORDS_H

#include "privacy/names/name_finder.h"

#define IDENTIFYING_PARTS_MAX 8

/* A name that is an ordinary word or first in many sentences: elsewhere it may be just that. */
bool identifying_words_is_common(struct td_str word);

/* Is a name's word no word of the language, so that it is a name in small letters, too? */
bool identifying_words_is_handle(const struct name_finder *names, struct td_str word);

/* What stands before the address's @, and then each run of letters in it that is long enough and nothing but
 * a name. 0: nothing of it tells of somebody ("sales.team@"). **borrows** the address. */
size_t identifying_words_of_mail(const struct name_finder *names, struct td_str address,
                                 struct td_str parts[static IDENTIFYING_PARTS_MAX]);

/* Is the text one run of letters? */
bool identifying_words_is_one(struct td_str text);

/* Is the word part of a path, a host, a file's name or a handle: a sign before it, or behind it and another
 * word behind that? */
bool identifying_words_is_joined(struct td_str text, size_t begin, size_t end);

#endif
