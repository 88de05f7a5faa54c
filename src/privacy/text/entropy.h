/* How random a string looks. Telling a key from a word needs no model: keys mix classes of
 * characters and hardly repeat themselves. */
#ifndef PRIVACY_ENTROPY_H
#define PRIVACY_ENTROPY_H

#include "tandem/types.h"

/* Shannon entropy of the characters' frequencies, in bits a character: English words 2 to 3, random
 * hex of 32 about 3.6, random base64 of 40 about 4.7. */
double entropy_bits_per_char(struct td_str text);
/* Classes present of four: lower case, upper case, digits, the symbols that passwords use. */
unsigned entropy_classes(struct td_str text);
/* A digit and a letter are in it. */
bool entropy_is_mixed(struct td_str text);

#endif
