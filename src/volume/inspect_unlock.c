// SPDX-License-Identifier: GPL-2.0-or-later
/* What opening a volume costs here, by short trials of its password hashes. */
#include <stdio.h>
#include <string.h>

#include "volume/inspect.h"
#include "volume/pbkdf.h"

#define TRIALS_MAX 4
/* The trial's figure is asked for in the costs of a long unlock, of which it is a small part, so
 * that whole iterations do not round it. */
#define TRIAL_MS     60000U
#define TRIAL_MEMORY (256ULL << 20)

/* Cost is memory times iterations (RFC 9106, 3.1), or PBKDF2's iterations alone. */
struct trial {
	const struct plan_pbkdf *of;
	size_t key_bytes;
	double per_ms; /* 0: could not be had */
};

static double cost(const struct plan_pbkdf *p)
{
	return (double)p->iterations * (p->memory ? (double)p->memory : 1);
}

static bool same(const struct trial *t, const struct plan_pbkdf *p, size_t key_bytes)
{
	return !strcmp(t->of->type, p->type) && t->of->threads == p->threads &&
	       (p->memory || (!strcmp(t->of->hash, p->hash) && t->key_bytes == key_bytes));
}

static void run_trial(struct trial *t, char *reason, size_t size)
{
	struct plan_pbkdf p = *t->of;
	struct status st = {0};

	p.iterations = 0;
	/* Argon2's keyslots name none; their splitter's does not count. */
	if (!*p.hash)
		snprintf(p.hash, sizeof(p.hash), "sha256");
	p.time_ms = TRIAL_MS;
	if (p.memory > TRIAL_MEMORY)
		p.memory = TRIAL_MEMORY;
	if (pbkdf_settle(&p, t->key_bytes, &st)) {
		snprintf(reason, size, "%s", st.message);
		return;
	}
	t->per_ms = cost(&p) / TRIAL_MS;
}

static const struct trial *find(struct trial *trials, size_t *n, const struct inspect_keyslot *k,
				char *reason, size_t size)
{
	size_t key_bytes = k->key_bits / 8;

	for (size_t i = 0; i < *n; i++)
		if (same(&trials[i], &k->pbkdf, key_bytes))
			return &trials[i];
	if (*n == TRIALS_MAX) {
		snprintf(reason, size, "The keyslots have more than %d different password hashes.",
			 TRIALS_MAX);
		return NULL;
	}
	trials[*n] = (struct trial){&k->pbkdf, key_bytes, 0};
	run_trial(&trials[*n], reason, size);
	return &trials[(*n)++];
}

void inspect_unlock_times(struct inspect *inspect, char *reason, size_t size)
{
	struct trial trials[TRIALS_MAX];
	size_t n = 0;

	*reason = '\0';
	for (unsigned i = 0; i < inspect->n_keyslots; i++) {
		struct inspect_keyslot *k = &inspect->keyslots[i];
		const struct trial *t;

		if (!*k->pbkdf.type)
			continue;
		t = find(trials, &n, k, reason, size);
		if (t && t->per_ms > 0)
			k->unlock_ms = cost(&k->pbkdf) / t->per_ms;
	}
}
