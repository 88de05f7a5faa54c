/* Attention with NEON: see attention_body.h. */
#include "kernels/arm/simd_neon.h"

#include "kernels/attention_body.h"
