/* Attention with AVX-512: see attention_body.h. */
#include "kernels/simd_avx512.h"

#include "kernels/attention_body.h"
