// SPDX-License-Identifier: GPL-2.0-or-later
/* What keeps a candidate out, whatever its speed: policy, constraints, the kernel. */
#include <stdio.h>
#include <string.h>

#include "decide/explain.h"
#include "decide/internal.h"

static const char *const use_names[] = {[PLAN_FOR_ANY] = "any",
					[PLAN_FOR_LVM] = "lvm",
					[PLAN_FOR_VM] = "vm",
					[PLAN_FOR_GRUB] = "grub",
					[PLAN_FOR_IMAGE] = "image"};

const char *plan_use_name(enum plan_use use)
{
	return use_names[use];
}

int plan_use_find(const char *name)
{
	for (int i = PLAN_FOR_LVM; i <= PLAN_FOR_IMAGE; i++)
		if (!strcmp(use_names[i], name))
			return i;
	return -1;
}

static void set_margins(struct choice *c, const struct policy *policy)
{
	enum spec_class class = spec_class(&c->spec);

	c->factor = class == SPEC_CLASS_STRONG ? 1 : policy->margin[class];
	/* Half the strength costs the same again within CBC. */
	if (class == SPEC_CLASS_CBC && spec_strength(&c->spec) < 256)
		c->factor *= policy->margin[SPEC_CLASS_XTS128];
	c->rare = pick_rare(&c->spec) ? policy->rare_margin : 1;
}

static bool by_policy(struct choice *c, const struct decide_input *input)
{
	const struct policy *policy = input->policy;
	const struct spec_kind *kind = c->spec.kind;
	unsigned strength = spec_strength(&c->spec);

	if (!kind->fips && (policy->fips || input->facts->kernel.fips))
		snprintf(c->reason, sizeof(c->reason), "%s",
			 input->facts->kernel.fips
				 ? "not approved, and the kernel runs in FIPS mode"
				 : "not approved for FIPS");
	else if (input->use == PLAN_FOR_GRUB &&
		 (strcmp(kind->cipher, "aes") || strcmp(kind->mode, "xts") || kind->integrity))
		snprintf(c->reason, sizeof(c->reason),
			 "GRUB is to open it, which is sure of AES-XTS only");
	else if (policy->min_strength > strength)
		snprintf(c->reason, sizeof(c->reason),
			 "%u bits of strength, where at least %.0f are asked for", strength,
			 policy->min_strength);
	else if (c->factor == 0)
		snprintf(c->reason, sizeof(c->reason), "policy %s never takes %s", policy->name,
			 spec_class_words(&c->spec));
	else
		return true;
	return false;
}

/* Of several sector sizes that failed the first that says enough: dm-crypt could not have the
 * cipher (AF_ALG may only have hidden it), or what either made of it was wrong. */
static const struct measure_result *failed_trial(const struct decide_input *input,
						 const struct spec *spec)
{
	const struct measurement *m = input->measurement;

	for (size_t i = 0; m && i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (r->spec.kind != spec->kind || r->spec.key_bits != spec->key_bits)
			continue;
		if ((r->engine == MEASURE_DM && !strcmp(r->error_code, "ENOENT")) ||
		    (r->engine <= MEASURE_AFALG && !strcmp(r->error_code, "mismatch")))
			return r;
	}
	return NULL;
}

bool admit(struct choice *c, const struct candidate *candidate, const struct decide_input *input)
{
	const struct measure_result *failed;

	c->spec = candidate->spec;
	set_margins(c, input->policy);
	c->state = CHOICE_NOT_ADMITTED;
	c->by_policy = !by_policy(c, input);
	if (c->by_policy)
		return false;
	failed = failed_trial(input, &c->spec);
	if (!candidate->admitted)
		snprintf(c->reason, sizeof(c->reason), "%s", candidate->reason);
	else if (failed)
		snprintf(c->reason, sizeof(c->reason), "tried here with %s, and failed: %.180s",
			 measure_engine_name(failed->engine),
			 *failed->error_reason ? failed->error_reason : failed->error_code);
	return candidate->admitted && !failed;
}
