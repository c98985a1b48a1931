#pragma once

// The few vector operations the kernels are written in, for AVX-512 or AVX2, chosen by the flags of the including file.

#include <cstdint>
#include <immintrin.h>

namespace {

#if defined(__AVX512F__)
using Vec = __m512;
using VecInt = __m512i;
constexpr std::int64_t kLanes = 16;
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
/// The first `count` numbers, 1 to kLanes, and zeros; reads no further.
inline Vec loadFirst(const float* p, std::int64_t count)
{
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1U), p);
}
inline Vec splat(float v) { return _mm512_set1_ps(v); }
inline Vec zero() { return _mm512_setzero_ps(); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec nfma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }
inline Vec maximum(Vec a, Vec b) { return _mm512_max_ps(a, b); }
inline Vec minimum(Vec a, Vec b) { return _mm512_min_ps(a, b); }
inline Vec squareRoot(Vec a) { return _mm512_sqrt_ps(a); }
inline float sum(Vec v) { return _mm512_reduce_add_ps(v); }
inline float largest(Vec v) { return _mm512_reduce_max_ps(v); }
inline Vec nearest(Vec v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline Vec timesPowerOf2(Vec v, Vec n) { return _mm512_scalef_ps(v, n); }
/// v where the lane is below `count`, `other` behind.
inline Vec firstLanes(std::int64_t count, Vec v, float other)
{
    const auto mask = static_cast<__mmask16>(count <= 0 ? 0U : (1U << (count < kLanes ? count : kLanes)) - 1U);
    return _mm512_mask_blend_ps(mask, splat(other), v);
}
/// 1 / x for ordinary positive x: an estimate and one Newton step, about 1e-7.
inline Vec reciprocal(Vec x)
{
    const Vec r = _mm512_rcp14_ps(x);
    return r * nfma(x, r, splat(2.0F));
}
/// to[j * toStride + i] = from[i * fromStride + j] for a square of kLanes.
inline void transposeSquare(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride)
{
    Vec r[16];
    Vec t[16];
    for (int i = 0; i < 16; ++i)
        r[i] = load(from + i * fromStride);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        for (int h = 0; h < 2; ++h) {
            const __m512d a = _mm512_castps_pd(t[i + h]);
            const __m512d b = _mm512_castps_pd(t[i + h + 2]);
            r[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            r[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
    }
    // r[4 g + c] now holds column c of each 4-lane group for the rows 4 g .. 4 g + 3.
    for (int c = 0; c < 4; ++c) {
        const Vec low01 = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x88);
        const Vec high01 = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xDD);
        const Vec low23 = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x88);
        const Vec high23 = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xDD);
        store(to + c * toStride, _mm512_shuffle_f32x4(low01, low23, 0x88));
        store(to + (4 + c) * toStride, _mm512_shuffle_f32x4(high01, high23, 0x88));
        store(to + (8 + c) * toStride, _mm512_shuffle_f32x4(low01, low23, 0xDD));
        store(to + (12 + c) * toStride, _mm512_shuffle_f32x4(high01, high23, 0xDD));
    }
}
#else
using Vec = __m256;
using VecInt = __m256i;
constexpr std::int64_t kLanes = 8;
inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline Vec loadFirst(const float* p, std::int64_t count)
{
    const VecInt lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane));
}
inline Vec splat(float v) { return _mm256_set1_ps(v); }
inline Vec zero() { return _mm256_setzero_ps(); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec nfma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }
inline Vec maximum(Vec a, Vec b) { return _mm256_max_ps(a, b); }
inline Vec minimum(Vec a, Vec b) { return _mm256_min_ps(a, b); }
inline Vec squareRoot(Vec a) { return _mm256_sqrt_ps(a); }
inline float sum(Vec v)
{
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}
inline float largest(Vec v)
{
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
}
inline Vec nearest(Vec v) { return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline Vec timesPowerOf2(Vec v, Vec n)
{
    // n in [-126, 127] by the clamp in exponential()
    const VecInt bits = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return v * _mm256_castsi256_ps(bits);
}
inline Vec firstLanes(std::int64_t count, Vec v, float other)
{
    const VecInt lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const int limit = static_cast<int>(count < 0 ? 0 : count < kLanes ? count : kLanes);
    return _mm256_blendv_ps(splat(other), v, _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(limit), lane)));
}
inline Vec reciprocal(Vec x) { return splat(1.0F) / x; }
inline void transposeSquare(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride)
{
    for (std::int64_t i = 0; i < kLanes; ++i)
        for (std::int64_t j = 0; j < kLanes; ++j)
            to[j * toStride + i] = from[i * fromStride + j];
}
#endif

/// One unsigned number in each lane; the compiler's own vectors, which have the operators.
using Words = std::uint32_t __attribute__((vector_size(sizeof(Vec))));

/// Spreads each number over all 32 bits (the multipliers are those of Wellons' "lowbias32").
inline Words scattered(Words x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ (x >> 16);
}

/// e^x, relative error below 2e-7 in [-87, 88]; outside the ends are used. NaN stays NaN.
inline Vec exponential(Vec x)
{
    // The clamp is written so that a NaN in x comes out of it: max and min return their second operand then.
    const Vec clamped = minimum(splat(88.0F), maximum(splat(-87.0F), x));
    const Vec n = nearest(clamped * splat(1.44269504088896341F));
    Vec r = nfma(n, splat(0.693359375F), clamped);
    r = nfma(n, splat(-2.12194440e-4F), r);
    Vec p = splat(1.9875691500e-4F);
    p = fma(p, r, splat(1.3981999507e-3F));
    p = fma(p, r, splat(8.3334519073e-3F));
    p = fma(p, r, splat(4.1665795894e-2F));
    p = fma(p, r, splat(1.6666665459e-1F));
    p = fma(p, r, splat(5.0000001201e-1F));
    p = fma(p, r * r, r + splat(1.0F));
    return timesPowerOf2(p, n);
}

} // namespace
