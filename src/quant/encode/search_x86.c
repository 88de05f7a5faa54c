/* The choice of an x86-64 build. */
#include "quant/encode/search.h"

search_sums_fn *search_variant(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? search_sums_avx2 : search_sums_plain;
}
