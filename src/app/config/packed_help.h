/* Texts of help that the build packs, because they are read seldom: of the configuration's keys and
 * of the verbs. The build sees them as the preprocessor does (tools/pack_help.py), and here they
 * are numbers in the same order. A file with such texts defines HELP_OF, a number that no other
 * file has, before its first #include, and stands in with_help of meson.build. No state; any
 * thread. */
#ifndef APP_PACKED_HELP_H
#define APP_PACKED_HELP_H

#include <stdint.h>

#define HELPS_MAX 256 /* in a file, and files */
#ifdef HELP_COLLECT
#define HELP(...) HELP_BEGIN HELP_OF : __VA_ARGS__ HELP_END
#else
#define HELP(...) (HELPS_MAX * HELP_OF + __COUNTER__ + 1)
#endif
/* The same where a text stands. No text of the program has so low an address. */
#define HELP_TEXT(...) ((const char *)(uintptr_t)HELP(__VA_ARGS__))

/* The text of a number; "" of 0. It stays. */
const char *packed_help(uint16_t number);
/* Of what may be HELP_TEXT() or a text. */
const char *packed_help_read(const char *text);

#endif
