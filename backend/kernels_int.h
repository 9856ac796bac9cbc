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

/* Portable dequantisation: backend/quants*.c. */
be_dequant_fn be_dequant_f32, be_dequant_f16, be_dequant_bf16, be_dequant_q8_0,
    be_dequant_q4_0, be_dequant_q4_1, be_dequant_q5_0, be_dequant_q5_1, be_dequant_q2_k,
    be_dequant_q3_k, be_dequant_q4_k, be_dequant_q5_k, be_dequant_q6_k, be_dequant_iq2_xxs,
    be_dequant_iq2_xs, be_dequant_iq2_s, be_dequant_iq3_xxs, be_dequant_iq3_s,
    be_dequant_iq1_s, be_dequant_iq1_m, be_dequant_iq4_nl, be_dequant_iq4_xs,
    be_dequant_mxfp4, be_dequant_nvfp4, be_dequant_tq1_0, be_dequant_tq2_0,
    be_dequant_q1_0, be_dequant_q2_0;

/* The types that no instruction set has kernels of its own for: rows of every table. */
#define BE_DEQUANT_IN_C \
    [GGUF_DT_TQ1_0] = be_dequant_tq1_0, \
    [GGUF_DT_TQ2_0] = be_dequant_tq2_0, \
    [GGUF_DT_NVFP4] = be_dequant_nvfp4, \
    [GGUF_DT_Q1_0] = be_dequant_q1_0, \
    [GGUF_DT_Q2_0] = be_dequant_q2_0

#endif
