/* The canonical form of characters. What a reader takes for the same is the same to the router, so
 * full-width or styled letters, accents, zero-width characters and typographic quotes move no
 * decision. The table is made in the build (tools/generate_folding.py). Pure; any thread. */
#ifndef ROUTER_FOLD_H
#define ROUTER_FOLD_H

#include <stddef.h>
#include <stdint.h>

/* No character folds to more bytes of UTF-8. */
#define FOLD_BYTES_MAX 40

/* Writes the folded form of a character that is not ASCII; 0 bytes when it is invisible. */
size_t fold_character(uint32_t code_point, char out[static FOLD_BYTES_MAX]);

#endif
