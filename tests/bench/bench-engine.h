/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scripts/bench-engine compares the engine with, beyond what the program itself measures. */
#ifndef DMCT_TESTS_BENCH_ENGINE_H
#define DMCT_TESTS_BENCH_ENGINE_H

#include "measure/backend.h"

#ifdef WITH_IPSECMB
/* intel-ipsec-mb: CBC with plain64 IVs, all the sectors of a call in one burst. It has no XTS. */
extern const struct backend backend_ipsecmb;
/* Its AES-GCM, a sector a call: what it is fastest by. */
extern const struct backend backend_ipsecmb_gcm;
#endif

#endif
