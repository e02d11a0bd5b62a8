// SPDX-License-Identifier: GPL-2.0-or-later
/* The portable tier as it is built where the architecture has no vectors: a tier of its own here,
 * so that it is tested everywhere. */
#define PORTABLE_SCALAR
#define engine_tier_portable engine_tier_scalar
#include "engine/tier_portable.c"
