#ifndef BE_KERNELS_INT_H
#define BE_KERNELS_INT_H

/* What the kernel files share: the tables, and which of them this build has. */

#include "backend/kernels.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define BE_KERNELS_X86 1
extern const struct be_kernels be_kernels_avx2;
extern const struct be_kernels be_kernels_avx512;
#else
#define BE_KERNELS_X86 0
#endif

extern const struct be_kernels be_kernels_portable;

/* Portable dequantisation, backend/quants.c. */
be_dequant_fn be_dequant_f32, be_dequant_f16, be_dequant_bf16, be_dequant_q8_0,
    be_dequant_q4_0, be_dequant_q4_1, be_dequant_q5_0, be_dequant_q5_1;

#endif
