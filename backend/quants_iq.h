#ifndef BE_QUANTS_IQ_H
#define BE_QUANTS_IQ_H

/* The grids of the IQ types: which combinations of values a group of elements may have. An
 * entry is its group's values as numbers, the first element in the lowest bits: eight of two
 * bits (IQ1, IQ2) or four of three bits (IQ3). */

#include <stdint.h>

enum {
    BE_GRID_IQ2_XXS = 256, BE_GRID_IQ2_XS = 512, BE_GRID_IQ2_S = 1024,
    BE_GRID_IQ3_XXS = 256, BE_GRID_IQ3_S = 512, BE_GRID_IQ1 = 2048,
};

extern const uint16_t be_grid_iq2_xxs[BE_GRID_IQ2_XXS], be_grid_iq2_xs[BE_GRID_IQ2_XS],
    be_grid_iq2_s[BE_GRID_IQ2_S], be_grid_iq3_xxs[BE_GRID_IQ3_XXS],
    be_grid_iq3_s[BE_GRID_IQ3_S], be_grid_iq1[BE_GRID_IQ1];

#endif
