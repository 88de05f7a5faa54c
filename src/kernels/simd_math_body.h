/* exp and tanh of vectors, written with the functions of simd_<isa>.h. Include that header
 * first. */
#ifndef KERNELS_SIMD_MATH_H
#define KERNELS_SIMD_MATH_H

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2) / 2 + a rounding. exp(r) is Taylor's sum
 * to the seventh power; the rest is below r^8 / 8! < 5.3e-9 of the result. ln 2 is subtracted in
 * two parts. The first has nine low bits of zero, so n * ln2_high is exact. With the roundings of
 * the sum (1 + r dominates) the relative error stays below 2e-7 for results that are normal floats.
 * x is limited to [-104, 88.7]. Outside this range the result is 0 or close to the largest float.
 * NaN stays NaN. */
SIMD_INLINE vec exp_parts(vec x, vec *n_out)
{
    const float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
    vec n = vec_round(vec_mul(x, vec_set(0x1.715476p+0f)));
    vec r = vec_fnma(n, vec_set(ln2_high), x);
    r = vec_fnma(n, vec_set(ln2_low), r);
    vec sum = vec_set(1.0f / 5040);
    sum = vec_fma(sum, r, vec_set(1.0f / 720));
    sum = vec_fma(sum, r, vec_set(1.0f / 120));
    sum = vec_fma(sum, r, vec_set(1.0f / 24));
    sum = vec_fma(sum, r, vec_set(1.0f / 6));
    sum = vec_fma(sum, r, vec_set(0.5f));
    sum = vec_fma(sum, r, vec_set(1.0f));
    *n_out = n;
    return vec_fma(sum, r, vec_set(1.0f));
}

SIMD_INLINE vec vec_exp(vec x)
{
    vec n, sum = exp_parts(vec_min(vec_set(88.7f), vec_max(vec_set(-104.0f), x)), &n);
    return vec_scale(sum, n);
}

/* exp of weights of a softmax, x <= 0. Below -86 it is exp(-86), 4.5e-38, which vanishes beside the
 * weight 1 of the maximum. So n >= -124, and scaling is an addition to the exponent. */
SIMD_INLINE vec vec_exp_weight(vec x)
{
    vec n, sum = exp_parts(vec_max(vec_set(-86.0f), x), &n);
    return vec_scale_normal(sum, n);
}

/* tanh(x) = 1 - 2 / (exp(2x) + 1). This loses digits near zero, so for |x| < 1/4 Taylor's sum to
 * the ninth power is taken. Its rest is below 0.009 x^10 < 2e-8 of the result. From 1/4 on the
 * subtraction costs at most 2 u / 0.24 and the exponential less: 8e-7 relative in all. NaN stays
 * NaN. */
SIMD_INLINE vec vec_tanh(vec x)
{
    vec size = vec_max(x, vec_sub(vec_set(0), x)), square = vec_mul(x, x);
    vec sum = vec_set(62.0f / 2835);
    sum = vec_fma(sum, square, vec_set(-17.0f / 315));
    sum = vec_fma(sum, square, vec_set(2.0f / 15));
    sum = vec_fma(sum, square, vec_set(-1.0f / 3));
    vec small = vec_fma(vec_mul(sum, square), x, x);
    vec e = vec_exp(vec_add(size, size));
    vec large = vec_sub(vec_set(1), vec_div(vec_set(2), vec_add(e, vec_set(1))));
    large = vec_if_greater(x, vec_set(0), large, vec_sub(vec_set(0), large));
    return vec_if_greater(size, vec_set(0.25f), large, small);
}

SIMD_INLINE vec capped(vec x, float cap)
{
    return vec_mul(vec_tanh(vec_div(x, vec_set(cap))), vec_set(cap));
}

#endif
