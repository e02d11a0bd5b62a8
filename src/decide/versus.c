// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/versus.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct side {
	const char *name, *mode;
	unsigned key_bits;
};

static const struct side xts256 = {"AES-256-XTS", "xts", 512};
static const struct side xts128 = {"AES-128-XTS", "xts", 256};
static const struct side cbc256 = {"AES-256-CBC", "cbc", 256};
static const struct side cbc128 = {"AES-128-CBC", "cbc", 128};

static const struct side *const questions[][2] = {
	{&xts256, &cbc128}, {&xts256, &cbc256}, {&xts256, &xts128}, {&cbc256, &cbc128}};

const char *versus_verdict_name(enum versus_verdict verdict)
{
	return verdict == VERSUS_FASTER   ? "faster"
	       : verdict == VERSUS_SLOWER ? "slower"
					  : "cannot tell";
}

static bool is(const struct measure_result *r, const struct side *side)
{
	/* Under a MAC it is another thing that is measured. */
	return !*r->error_code && r->checked && r->median > 0 && !r->spec.kind->integrity &&
	       !strcmp(r->spec.kind->cipher, "aes") && !strcmp(r->spec.kind->mode, side->mode) &&
	       r->spec.key_bits == side->key_bits;
}

/* The kernel's drivers have other names for other ciphers; a tier is the same. */
static bool same_but_cipher(const struct measure_result *a, const struct measure_result *b)
{
	return a->engine == b->engine && a->spec.sector == b->spec.sector && a->size == b->size &&
	       a->shape == b->shape && a->direction == b->direction && a->threads == b->threads &&
	       a->depth == b->depth && a->path == b->path && a->flags == b->flags &&
	       (a->engine != MEASURE_CPU || !strcmp(a->tier, b->tier));
}

static void trusted(const struct measure_result *r, double *low, double *high)
{
	double notch = r->slices ? 1.57 * (r->high - r->low) / sqrt(r->slices) : 0;

	*low = r->slices ? r->median - notch : r->low;
	*high = r->slices ? r->median + notch : r->high;
	if (!(*low > 0))
		*low = r->low;
}

static void judge(struct versus *v)
{
	double a_low, a_high, b_low, b_high;

	trusted(v->a, &a_low, &a_high);
	trusted(v->b, &b_low, &b_high);
	v->ratio = v->a->median / v->b->median;
	v->low = a_low / b_high;
	v->high = a_high / b_low;
	v->verdict = v->low > 1 ? VERSUS_FASTER : v->high < 1 ? VERSUS_SLOWER : VERSUS_CANNOT_TELL;
}

static int add(struct versus_list *list, const struct side *const question[2],
	       const struct measure_result *a, const struct measure_result *b)
{
	struct versus *grown = realloc(list->list, (list->n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->list = grown;
	grown += list->n++;
	*grown = (struct versus){
		.left = question[0]->name, .right = question[1]->name, .a = a, .b = b};
	judge(grown);
	return 0;
}

int versus_find(struct versus_list *list, const struct measurement *m)
{
	int ret = 0;

	list->list = NULL;
	list->n = 0;
	for (size_t q = 0; q < sizeof(questions) / sizeof(questions[0]); q++) {
		for (size_t i = 0; i < m->n_results && !ret; i++) {
			const struct measure_result *a = &m->results[i];

			for (size_t j = 0; j < m->n_results && !ret && is(a, questions[q][0]); j++)
				if (is(&m->results[j], questions[q][1]) &&
				    same_but_cipher(a, &m->results[j]))
					ret = add(list, questions[q], a, &m->results[j]);
		}
	}
	return ret;
}

void versus_free(struct versus_list *list)
{
	free(list->list);
	list->list = NULL;
	list->n = 0;
}
