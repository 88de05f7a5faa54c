/* Attention with NEON: see attention_body.h. */
#include "kernels/simd_neon.h"

#include "kernels/attention_body.h"
