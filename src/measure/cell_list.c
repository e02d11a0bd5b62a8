// SPDX-License-Identifier: GPL-2.0-or-later
/* From a request to its cells. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/cell.h"

/* Bytes a request where none are asked for: what readahead and writeback make of a sequential
 * stream, give or take. */
#define CALL_SIZE (64U << 10)

struct builder {
	struct cells *cells;
	struct measurement *m;
	const struct measure_request *request;
	const struct facts *facts;
	struct run *run;
	unsigned engines; /* of the request's, those whose turn it is */
};

/* A copy of a result on a longer list; NULL when out of memory. */
static struct measure_result *add_result(struct measurement *m, const struct measure_result *result)
{
	struct measure_result *grown;

	grown = realloc(m->results, (m->n_results + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	m->results = grown;
	grown[m->n_results] = *result;
	return &grown[m->n_results++];
}

static struct cell *add_cell(struct cells *cells)
{
	struct cell *grown = realloc(cells->list, (cells->n + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	cells->list = grown;
	memset(&grown[cells->n], 0, sizeof(*grown));
	return &grown[cells->n++];
}

static bool listed(const struct builder *b, const struct cell *cell)
{
	for (size_t i = 0; i + 1 < b->cells->n; i++) {
		const struct cell *other = &b->cells->list[i];

		if (spec_equal(&other->what.spec, &cell->what.spec) &&
		    b->m->results[other->result].engine == b->m->results[cell->result].engine &&
		    other->what.tier == cell->what.tier && other->what.shape == cell->what.shape &&
		    other->what.direction == cell->what.direction &&
		    other->what.size == cell->what.size && other->what.depth == cell->what.depth &&
		    other->what.flags == cell->what.flags && other->what.path == cell->what.path &&
		    other->threads == cell->threads)
			return true;
	}
	return false;
}

/* A cell in all but the dimension of threads. */
static int add(const struct builder *b, enum measure_engine engine, const struct backend_cell *what,
	       unsigned threads)
{
	struct measure_result result = {.spec = what->spec,
					.engine = engine,
					.shape = what->shape,
					.direction = what->direction,
					.size = what->size,
					.threads = threads,
					.depth = what->depth,
					.flags = what->flags,
					.path = what->path};
	const char *reason = NULL;
	struct cell *cell;

	cell = add_cell(b->cells);
	if (!cell || !add_result(b->m, &result))
		return -ENOMEM;
	cell->run = b->run;
	cell->result = b->m->n_results - 1;
	cell->what = *what;
	cell->threads = threads;
	if (listed(b, cell)) {
		b->cells->n--;
		b->m->n_results--;
		return 0;
	}
	cell->backend = backend_find(engine, &reason);
	if (!cell->backend) {
		backend_fail(&cell->error, ENOSYS, "%s", reason);
		return 0;
	}
	if (!cell->backend->implements(&what->spec)) {
		backend_fail(&cell->error, EOPNOTSUPP, "the %s engine does not have %s",
			     measure_engine_name(engine), what->spec.kind->kernel);
		cell->backend = NULL;
		return 0;
	}
	cell->backend->describe(&cell->what, b->m->results[cell->result].tier, sizeof(result.tier));
	cell->states = calloc(threads, sizeof(*cell->states));
	cell->errors = calloc(threads, sizeof(*cell->errors));
	return cell->states && cell->errors ? 0 : -ENOMEM;
}

static int add_threads(const struct builder *b, enum measure_engine engine,
		       const struct backend_cell *what)
{
	int ret = 0;

	for (size_t i = 0; i < b->request->n_threads && !ret; i++)
		ret = add(b, engine, what, b->request->threads[i]);
	return ret;
}

static int add_paths(const struct builder *b, enum measure_engine engine, struct backend_cell *what)
{
	const unsigned paths = b->request->paths;
	int ret = 0;

	what->path = MEASURE_COPY;
	if (engine != MEASURE_AFALG || !paths || paths & 1U << MEASURE_COPY)
		ret = add_threads(b, engine, what);
	if (ret || engine != MEASURE_AFALG || !(paths & 1U << MEASURE_SPLICE))
		return ret;
	what->path = MEASURE_SPLICE;
	return add_threads(b, engine, what);
}

/* Only what answers requests can have several of them at once. */
static int add_depths(const struct builder *b, enum measure_engine engine,
		      struct backend_cell *what)
{
	bool in_flight = engine == MEASURE_DM || engine == MEASURE_AFALG;
	int ret = 0;

	what->depth = 1;
	if (!in_flight || !b->request->n_depths)
		return add_paths(b, engine, what);
	for (size_t i = 0; i < b->request->n_depths && !ret; i++) {
		what->depth = b->request->depths[i];
		ret = add_paths(b, engine, what);
	}
	return ret;
}

static bool whole_calls(enum measure_engine engine)
{
	return engine == MEASURE_DM || engine == MEASURE_CPU || engine == MEASURE_OPENSSL;
}

static int add_sizes(const struct builder *b, enum measure_engine engine, struct backend_cell *what)
{
	const struct measure_request *r = b->request;
	int ret = 0;

	if (what->spec.sector && (!whole_calls(engine) || !r->n_sizes)) {
		what->size = whole_calls(engine) ? CALL_SIZE : what->spec.sector;
		return add_depths(b, engine, what);
	}
	for (size_t i = 0; i < r->n_sizes && !ret; i++) {
		what->size = r->sizes[i];
		if (what->size && !(what->size % backend_unit(&what->spec, what->size)))
			ret = add_depths(b, engine, what);
	}
	return ret;
}

/* Only encryption in CBC of the in-process engine has a second shape. */
static int add_shapes(const struct builder *b, enum measure_engine engine,
		      struct backend_cell *what)
{
	bool multi = engine == MEASURE_CPU && what->direction == ENGINE_ENCRYPT &&
		     !strcmp(what->spec.kind->mode, "cbc") && !what->spec.kind->integrity;
	int ret = 0;

	what->shape = ENGINE_SERIAL;
	if (!multi || b->request->shapes & 1U << ENGINE_SERIAL)
		ret = add_sizes(b, engine, what);
	what->shape = ENGINE_MULTI;
	if (!ret && multi && b->request->shapes & 1U << ENGINE_MULTI)
		ret = add_sizes(b, engine, what);
	return ret;
}

static int add_directions(const struct builder *b, enum measure_engine engine,
			  struct backend_cell *what)
{
	int ret;

	what->direction = ENGINE_ENCRYPT;
	ret = add_shapes(b, engine, what);
	what->direction = ENGINE_DECRYPT;
	return ret ? ret : add_shapes(b, engine, what);
}

/* The engine that has flags. */
static int add_dm(const struct builder *b, struct backend_cell *what)
{
	const struct measure_request *r = b->request;
	int ret = 0;

	if (!r->n_flags)
		return add_directions(b, MEASURE_DM, what);
	for (size_t f = 0; f < r->n_flags && !ret; f++) {
		what->flags = r->flags[f];
		ret = add_directions(b, MEASURE_DM, what);
	}
	return ret;
}

static int add_engine(const struct builder *b, enum measure_engine engine, const struct spec *spec)
{
	struct backend_cell what = {.spec = *spec, .facts = b->facts};
	int ret = 0;

	if (engine == MEASURE_DM)
		return add_dm(b, &what);
	if (engine != MEASURE_CPU)
		return add_directions(b, engine, &what);
	for (size_t i = 0; i < b->request->n_tiers && !ret; i++) {
		what.tier = b->request->tiers[i];
		ret = add_directions(b, engine, &what);
	}
	return ret;
}

/* Of an engine that this program was built without, what it would have. */
static bool implements(enum measure_engine engine, const struct spec *spec)
{
	const char *reason;
	const struct backend *backend = backend_find(engine, &reason);

	if (backend)
		return backend->implements(spec);
	return engine == MEASURE_CPU || engine == MEASURE_OPENSSL ? engine_supports(spec) : true;
}

/* An engine that lacks the spec is left out while another has it: that AES is all that the CPU
 * engine knows is no news in every table. */
static int add_engines(const struct builder *b, const struct spec *spec)
{
	bool any = false;
	int ret = 0;

	for (int e = 0; e < MEASURE_ENGINE_COUNT; e++)
		any |= b->request->engines & 1U << e && implements(e, spec);
	for (int e = 0; e < MEASURE_ENGINE_COUNT && !ret; e++)
		if (b->engines & 1U << e && (!any || implements(e, spec)))
			ret = add_engine(b, e, spec);
	return ret;
}

/* Whether a request of that size and cipher is a cell already. */
static bool has_request(const struct builder *b, const struct spec *spec, uint64_t size)
{
	for (size_t i = 0; i < b->cells->n; i++) {
		const struct backend_cell *what = &b->cells->list[i].what;

		if (b->m->results[b->cells->list[i].result].engine == MEASURE_AFALG &&
		    what->spec.kind == spec->kind && what->spec.key_bits == spec->key_bits &&
		    what->size == size)
			return true;
	}
	return false;
}

/* What the sector sizes leave out of the range that a line is fitted over; or its end alone. */
static int add_fits(const struct builder *b)
{
	static const uint64_t sizes[] = {65536, 16384, 4096, 512};
	const size_t n_sizes = b->request->fit ? sizeof(sizes) / sizeof(sizes[0]) : 1;
	struct measure_request request = *b->request;
	struct builder more = *b;
	int ret = 0;

	if (!(request.engines & 1U << MEASURE_AFALG))
		return 0;
	request.n_sizes = 1;
	more.request = &request;
	for (size_t i = 0; i < request.n_specs && !ret; i++) {
		struct backend_cell what = {.spec = request.specs[i], .facts = b->facts};

		/* Who names a sector size wants that; and a tag belongs to a sector. */
		for (size_t s = 0;
		     s < n_sizes && !ret && !what.spec.sector && !what.spec.kind->integrity; s++) {
			if (has_request(b, &what.spec, sizes[s]))
				continue;
			request.sizes = &sizes[s];
			ret = add_directions(&more, MEASURE_AFALG, &what);
		}
	}
	return ret;
}

/* The crossing alone, in one direction, since it has none. */
static int add_crossing(const struct builder *b)
{
	struct backend_cell what = {.spec = {.kind = &backend_null_kind}, .facts = b->facts};

	return b->request->engines & 1U << MEASURE_AFALG ? add_sizes(b, MEASURE_AFALG, &what) : 0;
}

int cells_list(struct cells *cells, struct measurement *m, const struct measure_request *request,
	       const struct facts *facts, struct run *run)
{
	struct builder b = {cells, m, request, facts, run, 0};
	int ret = 0;

	for (size_t i = 0; i < request->n_specs && !ret; i++) {
		struct spec spec = request->specs[i];

		b.engines = request->engines;
		if (spec.sector || (request->messages && request->n_sizes)) {
			/* A disk's requests are sectors, whatever their size. */
			if (!spec.sector)
				b.engines &= ~(1U << MEASURE_DM);
			ret = add_engines(&b, &spec);
			b.engines = spec.sector ? 0 : request->engines & 1U << MEASURE_DM;
		}
		for (size_t s = 0; b.engines && s < request->n_sectors && !ret; s++) {
			spec.sector = request->sectors[s];
			ret = add_engines(&b, &spec);
		}
	}
	if (!ret && (request->fit || request->stream) && !request->n_sizes)
		ret = add_fits(&b);
	if (!ret && request->crossing)
		ret = add_crossing(&b);
	return ret;
}

void cells_free(struct cells *cells)
{
	for (size_t i = 0; i < cells->n; i++) {
		free(cells->list[i].states);
		free(cells->list[i].errors);
	}
	free(cells->list);
	cells->list = NULL;
	cells->n = 0;
}

size_t cells_max_buffer(const struct cells *cells)
{
	size_t max = 0;

	for (size_t i = 0; i < cells->n; i++)
		if (cells->list[i].what.size * cells->list[i].what.depth > max)
			max = cells->list[i].what.size * cells->list[i].what.depth;
	return max;
}

unsigned cells_max_threads(const struct cells *cells)
{
	unsigned max = 1;

	for (size_t i = 0; i < cells->n; i++)
		if (cells->list[i].threads > max)
			max = cells->list[i].threads;
	return max;
}
