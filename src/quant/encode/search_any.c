/* The choice of a build for any other processor. */
#include "quant/encode/search.h"

search_sums_fn *search_variant(void)
{
    return search_sums_plain;
}
