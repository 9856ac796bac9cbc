/* The element types of tensors: one table, numbered as in ggml. Rows are whole blocks, so
 * a tensor's bytes follow from its shape. A hole is a number that ggml removed (4 and 5:
 * Q4_2, Q4_3; 31..33 and 36..38: layouts repacked for one CPU). */
#include "config.h"

#include "base/gguf.h"

static const struct gguf_dtype_info gguf_dtypes[GGUF_DT_LIMIT] = {
    [GGUF_DT_F32] = { "F32", 1, 4 },
    [GGUF_DT_F16] = { "F16", 1, 2 },
    [GGUF_DT_Q4_0] = { "Q4_0", 32, 18 },
    [GGUF_DT_Q4_1] = { "Q4_1", 32, 20 },
    [GGUF_DT_Q5_0] = { "Q5_0", 32, 22 },
    [GGUF_DT_Q5_1] = { "Q5_1", 32, 24 },
    [GGUF_DT_Q8_0] = { "Q8_0", 32, 34 },
    [9] = { "Q8_1", 32, 36 },
    [GGUF_DT_Q2_K] = { "Q2_K", 256, 84 },
    [GGUF_DT_Q3_K] = { "Q3_K", 256, 110 },
    [GGUF_DT_Q4_K] = { "Q4_K", 256, 144 },
    [GGUF_DT_Q5_K] = { "Q5_K", 256, 176 },
    [GGUF_DT_Q6_K] = { "Q6_K", 256, 210 },
    [15] = { "Q8_K", 256, 292 },
    [GGUF_DT_IQ2_XXS] = { "IQ2_XXS", 256, 66 },
    [GGUF_DT_IQ2_XS] = { "IQ2_XS", 256, 74 },
    [GGUF_DT_IQ3_XXS] = { "IQ3_XXS", 256, 98 },
    [GGUF_DT_IQ1_S] = { "IQ1_S", 256, 50 },
    [GGUF_DT_IQ4_NL] = { "IQ4_NL", 32, 18 },
    [GGUF_DT_IQ3_S] = { "IQ3_S", 256, 110 },
    [GGUF_DT_IQ2_S] = { "IQ2_S", 256, 82 },
    [GGUF_DT_IQ4_XS] = { "IQ4_XS", 256, 136 },
    [24] = { "I8", 1, 1 },
    [25] = { "I16", 1, 2 },
    [26] = { "I32", 1, 4 },
    [27] = { "I64", 1, 8 },
    [28] = { "F64", 1, 8 },
    [GGUF_DT_IQ1_M] = { "IQ1_M", 256, 56 },
    [GGUF_DT_BF16] = { "BF16", 1, 2 },
    [GGUF_DT_TQ1_0] = { "TQ1_0", 256, 54 },
    [GGUF_DT_TQ2_0] = { "TQ2_0", 256, 66 },
    [GGUF_DT_MXFP4] = { "MXFP4", 32, 17 },
    [GGUF_DT_NVFP4] = { "NVFP4", 64, 36 },
    [GGUF_DT_Q1_0] = { "Q1_0", 128, 18 },
    [GGUF_DT_Q2_0] = { "Q2_0", 64, 18 },
};

const struct gguf_dtype_info *gguf_dtype_info(uint32_t dtype)
{
    if (dtype >= GGUF_DT_LIMIT || !gguf_dtypes[dtype].name)
        return NULL;
    return &gguf_dtypes[dtype];
}
