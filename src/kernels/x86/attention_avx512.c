/* Attention with AVX-512: see attention_body.h. */
#include "kernels/x86/simd_avx512.h"

#include "kernels/attention_body.h"
