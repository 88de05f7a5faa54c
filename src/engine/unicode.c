#include "engine/unicode.h"

#include "engine/unicode_table.h" /* generated in the build */

uint8_t unicode_class_of(uint32_t code_point)
{
    if (code_point > 0x10FFFF)
        return 0;
    return unicode_blocks[unicode_index[code_point / UNICODE_BLOCK]][code_point % UNICODE_BLOCK];
}
