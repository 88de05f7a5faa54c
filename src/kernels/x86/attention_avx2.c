/* Attention with AVX2: see attention_body.h. */
#include "kernels/x86/simd_avx2.h"

#include "kernels/attention_body.h"
