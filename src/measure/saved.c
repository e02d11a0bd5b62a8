// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/saved.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/backend.h"
#include "measure/flags.h"
#include "measure/saved_device.h"
#include "measure/saved_facts.h"
#include "measure/saved_json.h"
#include "measure/saved_run.h"
#include "measure/saved_twice.h"

#define SAVED_MAX (64U << 20)
/* The most that a call or a buffer may have, and far more threads than a machine runs. */
#define SIZE_LIMIT    (1ULL << 40)
#define THREADS_LIMIT 65536

static int file_error(struct status *st, const char *name, int err)
{
	return status_set(st, ST_USAGE, err, "%s: %s.", name, strerror(err));
}

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
static int open_saved(const char *path, struct status *st)
{
	struct stat info;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return file_error(st, path, errno);
	if (fstat(fd, &info) || !S_ISREG(info.st_mode)) {
		close(fd);
		return status_set(st, ST_USAGE, EINVAL,
				  "%s is no regular file; \"-\" reads standard input.", path);
	}
	return fd;
}

static int read_all(int fd, const char *name, char **text, size_t *len, struct status *st)
{
	size_t room = 0;
	char *grown;
	ssize_t n;

	for (;;) {
		if (*len == room) {
			room = room ? room * 2 : 65536;
			grown = realloc(*text, room + 1);
			if (!grown)
				return status_nomem(st);
			*text = grown;
		}
		n = read(fd, *text + *len, room - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error(st, name, errno);
		if (!n)
			break;
		*len += (size_t)n;
		if (*len > SAVED_MAX)
			return status_set(st, ST_USAGE, EFBIG, "%s is larger than 64 MiB.", name);
	}
	(*text)[*len] = '\0';
	return 0;
}

static int parse(struct json_object **doc, const char *text, size_t len, const char *name,
		 struct status *st)
{
	struct json_tokener *tokener = json_tokener_new_ex(SAVED_DEPTH);
	enum json_tokener_error error;
	size_t end;

	if (!tokener)
		return status_nomem(st);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	/* With the NUL: a number or word at the very end is else thought to go on. */
	*doc = json_tokener_parse_ex(tokener, text, (int)len + 1);
	error = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (error != json_tokener_success)
		return status_set(st, ST_USAGE, EINVAL, "%s is not JSON: %s at byte %zu.", name,
				  json_tokener_error_desc(error), end);
	end += strspn(text + end, " \t\r\n");
	if (end != len)
		return status_set(st, ST_USAGE, EINVAL,
				  "%s: something follows the JSON document, at byte %zu.", name,
				  end);
	if (!json_object_is_type(*doc, json_type_object))
		return status_set(st, ST_USAGE, EINVAL, "%s: the JSON is no object.", name);
	return saved_twice(text, name, st);
}

static int check_schema(const struct saved_place *doc)
{
	static const char wanted[] = "\"dmcrypt-tune.bench.v1\" (the output of bench --json or "
				     "--save)";
	char schema[64] = "";

	if (saved_string(doc, "schema", true, schema, sizeof(schema)) ||
	    strcmp(schema, "dmcrypt-tune.bench.v1"))
		return saved_wrong(doc, "schema", wanted);
	return 0;
}

/* One of two words, or, where it is not required, the first. */
static int read_word(const struct saved_place *at, const char *key, bool required,
		     const char *const words[2], int *value)
{
	char text[32] = "", wanted[64];

	snprintf(wanted, sizeof(wanted), "\"%s\" or \"%s\"", words[0], words[1]);
	if (!required)
		snprintf(text, sizeof(text), "%s", words[0]);
	if (saved_string(at, key, required, text, sizeof(text)))
		return saved_wrong(at, key, wanted);
	for (*value = 0; *value < 2; ++*value)
		if (!strcmp(text, words[*value]))
			return 0;
	return saved_wrong(at, key, wanted);
}

static int read_names(const struct saved_place *at, struct measure_result *r)
{
	static const char *const directions[2] = {"encrypt", "decrypt"};
	static const char *const shapes[2] = {"serial", "multi"};
	static const char *const paths[2] = {"copy", "splice"};
	char text[SPEC_TEXT_MAX] = "", engine[32] = "";
	struct status why = {ST_OK, ""};
	int ret, direction = 0, shape = 0, path = 0, found;

	/* The crossing alone has none. */
	ret = r->spec.kind ? 0 : saved_string(at, "spec", true, text, sizeof(text));
	if (ret)
		return ret;
	if (!r->spec.kind && spec_parse_any(&r->spec, text, &why))
		return status_set(at->st, ST_USAGE, EINVAL, "%s: %s.spec: %s", at->file, at->where,
				  why.message);
	ret = saved_string(at, "engine", true, engine, sizeof(engine));
	found = measure_engine_find(engine);
	if (ret || found < 0)
		return saved_wrong(at, "engine", "dm, afalg, cpu or openssl");
	r->engine = found;
	ret = read_word(at, "direction", true, directions, &direction);
	if (!ret)
		ret = read_word(at, "shape", false, shapes, &shape);
	if (!ret)
		ret = read_word(at, "path", false, paths, &path);
	if (!ret)
		ret = saved_string(at, "tier", false, r->tier, sizeof(r->tier));
	r->direction = direction ? ENGINE_DECRYPT : ENGINE_ENCRYPT;
	r->shape = shape ? ENGINE_MULTI : ENGINE_SERIAL;
	r->path = path ? MEASURE_SPLICE : MEASURE_COPY;
	return ret;
}

/* Absent: no pairs. */
static int read_ratio(const struct saved_place *at, const char *key, struct measure_ratio *ratio)
{
	struct saved_place obj;
	uint64_t pairs = 0;
	int ret;

	ret = saved_member(at, key, json_type_object, false, &obj);
	if (ret || !obj.obj)
		return ret;
	ret = saved_real(&obj, "ratio", true, &ratio->ratio);
	if (!ret)
		ret = saved_real(&obj, "low", true, &ratio->low);
	if (!ret)
		ret = saved_real(&obj, "high", true, &ratio->high);
	if (!ret)
		ret = saved_u64(&obj, "pairs", true, 1, UINT_MAX, &pairs);
	ratio->pairs = (unsigned)pairs;
	return ret;
}

static int read_speeds(const struct saved_place *at, struct measure_result *r)
{
	uint64_t slices = 0;
	int ret;

	ret = saved_real(at, "median", true, &r->median);
	if (ret)
		return ret;
	if (r->median < 1)
		return saved_wrong(at, "median",
				   "a speed in bytes per second (a failure has an error instead)");
	r->low = r->high = r->median;
	ret = saved_real(at, "low", false, &r->low);
	if (!ret)
		ret = saved_real(at, "high", false, &r->high);
	if (ret)
		return ret;
	if (r->low > r->median)
		return saved_wrong(at, "low", "a number not above the median");
	if (r->high < r->median)
		return saved_wrong(at, "high", "a number not below the median");
	ret = saved_u64(at, "slices", false, 0, UINT_MAX, &slices);
	r->slices = (unsigned)slices;
	if (!ret)
		ret = saved_real(at, "roofline_share", false, &r->roofline_share);
	if (!ret)
		ret = read_ratio(at, "to_roofline", &r->to_roofline);
	if (!ret)
		ret = read_ratio(at, "to_best", &r->to_best);
	if (!ret)
		ret = saved_real(at, "scaling", false, &r->scaling);
	return ret ? ret : saved_bool(at, "checked", &r->checked);
}

static int read_error(const struct saved_place *error, struct measure_result *r)
{
	int ret;

	ret = saved_string(error, "code", true, r->error_code, sizeof(r->error_code));
	if (!ret && !*r->error_code)
		ret = saved_wrong(error, "code", "an errno's name or a word");
	return ret ? ret : saved_text(error, "reason", r->error_reason, sizeof(r->error_reason));
}

/* Absent: no flags. */
static int read_dm(const struct saved_place *at, struct measure_result *r)
{
	static const struct kernel_dm unknown;
	unsigned sets[FLAGS_SETS_MAX];
	struct saved_place array;
	struct json_object *word;
	int ret;

	ret = saved_string(at, "queue", false, r->queue, sizeof(r->queue));
	if (!ret)
		ret = saved_member(at, "flags", json_type_array, false, &array);
	if (ret || !array.obj)
		return ret;
	for (size_t i = 0; i < json_object_array_length(array.obj); i++) {
		word = json_object_array_get_idx(array.obj, i);
		if (!json_object_is_type(word, json_type_string) ||
		    !strcmp(json_object_get_string(word), "all") ||
		    flags_parse(sets, json_object_get_string(word), &unknown) != 1)
			return saved_wrong(at, "flags", "an array of dm-crypt's flags");
		r->flags |= sets[0];
	}
	return 0;
}

static int read_result(const struct saved_place *at, struct measure_result *r)
{
	struct saved_place error;
	uint64_t threads = 1, depth = 1;
	int ret;

	ret = read_names(at, r);
	if (ret)
		return ret;
	r->size = r->spec.sector;
	ret = saved_u64(at, "size", !r->size, 16, SIZE_LIMIT, &r->size);
	/* Each of its requests is a sector: another size would be a figure of something else. */
	if (!ret && r->engine == MEASURE_AFALG && r->spec.sector && r->size != r->spec.sector)
		ret = saved_wrong(at, "size", "the sector size of the spec (engine afalg)");
	if (!ret)
		ret = saved_u64(at, "threads", false, 1, THREADS_LIMIT, &threads);
	if (!ret)
		ret = saved_u64(at, "depth", false, 1, THREADS_LIMIT, &depth);
	if (!ret)
		ret = saved_member(at, "error", json_type_object, false, &error);
	if (ret)
		return ret;
	r->threads = (unsigned)threads;
	r->depth = (unsigned)depth;
	ret = r->engine == MEASURE_DM ? read_dm(at, r) : 0;
	if (ret)
		return ret;
	return error.obj ? read_error(&error, r) : read_speeds(at, r);
}

static int compare(const void *a, const void *b)
{
	const struct measure_result *x = *(const struct measure_result *const *)a;
	const struct measure_result *y = *(const struct measure_result *const *)b;
	int ret = measure_order(x, y);

	return ret ? ret : strcmp(x->tier, y->tier);
}

/* Which of two contradicting values would count is a matter of order: refused. */
static int check_duplicates(const struct measurement *m, const char *name, struct status *st)
{
	const struct measure_result **sorted;
	char spec[SPEC_TEXT_MAX];
	int ret = 0;

	sorted = malloc((m->n_results + 1) * sizeof(struct measure_result *));
	if (!sorted)
		return status_nomem(st);
	for (size_t i = 0; i < m->n_results; i++)
		sorted[i] = &m->results[i];
	qsort(sorted, m->n_results, sizeof(struct measure_result *), compare);
	for (size_t i = 1; i < m->n_results && !ret; i++)
		if (!compare(&sorted[i - 1], &sorted[i]))
			ret = status_set(st, ST_USAGE, EINVAL,
					 "%s: results[%td] and results[%td] are the same cell (%s, "
					 "%s).",
					 name, sorted[i - 1] - m->results, sorted[i] - m->results,
					 spec_print(&sorted[i]->spec, spec),
					 measure_engine_name(sorted[i]->engine));
	free(sorted);
	return ret;
}

static int read_results(struct measurement *m, const struct saved_place *doc)
{
	struct saved_place array, element;
	size_t n;
	int ret;

	ret = saved_member(doc, "results", json_type_array, true, &array);
	if (ret)
		return ret;
	n = json_object_array_length(array.obj);
	m->results = calloc(n + 1, sizeof(*m->results));
	if (!m->results)
		return status_nomem(doc->st);
	for (m->n_results = 0; m->n_results < n; m->n_results++) {
		ret = saved_element(&array, m->n_results, &element);
		if (!ret)
			ret = read_result(&element, &m->results[m->n_results]);
		if (ret)
			return ret;
	}
	return check_duplicates(m, doc->file, doc->st);
}

/* AF_ALG without a cipher. */
static int read_crossings(struct measurement *m, const struct saved_place *doc)
{
	struct saved_place array, element;
	size_t n;
	int ret;

	ret = saved_member(doc, "crossing_cells", json_type_array, false, &array);
	if (ret || !array.obj)
		return ret;
	n = json_object_array_length(array.obj);
	m->crossings = calloc(n + 1, sizeof(*m->crossings));
	if (!m->crossings)
		return status_nomem(doc->st);
	for (m->n_crossings = 0; m->n_crossings < n && !ret; m->n_crossings++) {
		m->crossings[m->n_crossings].spec.kind = &backend_null_kind;
		ret = saved_element(&array, m->n_crossings, &element);
		if (!ret)
			ret = read_result(&element, &m->crossings[m->n_crossings]);
	}
	return ret;
}

static int read_costs(struct measurement *m, const struct saved_place *doc)
{
	struct saved_place costs;
	int ret = saved_member(doc, "kernel_costs", json_type_object, false, &costs);

	if (ret || !costs.obj)
		return ret;
	ret = saved_real(&costs, "handoff_ns", false, &m->handoff);
	if (!ret)
		ret = saved_real(&costs, "copy_ns_per_kib", false, &m->copy);
	if (!ret)
		ret = saved_real(&costs, "syscall_ns", false, &m->syscall);
	m->syscall /= 1e9;
	m->handoff /= 1e9;
	m->copy /= 1e9 * 1024;
	return ret;
}

static int read_document(struct measurement *m, struct facts *facts, bool *has_facts,
			 struct saved_device *device, const struct saved_place *doc)
{
	int ret;

	ret = check_schema(doc);
	if (!ret)
		ret = read_results(m, doc);
	if (!ret)
		ret = read_crossings(m, doc);
	if (!ret)
		ret = read_costs(m, doc);
	if (!ret)
		ret = saved_run(m, doc);
	if (!ret)
		ret = saved_real(doc, "seconds", false, &m->seconds);
	if (!ret)
		ret = saved_facts(facts, has_facts, doc);
	if (!ret && device)
		ret = saved_device(device, doc);
	return ret;
}

int saved_load(struct measurement *m, struct facts *facts, bool *has_facts,
	       struct saved_device *device, const char *path, struct status *st)
{
	bool standard_input = !strcmp(path, "-");
	struct saved_place doc = {.file = standard_input ? "standard input" : path, .st = st};
	char *text = NULL;
	size_t len = 0;
	int fd, ret;

	memset(m, 0, sizeof(*m));
	memset(facts, 0, sizeof(*facts));
	*has_facts = false;
	if (device)
		memset(device, 0, sizeof(*device));
	fd = standard_input ? STDIN_FILENO : open_saved(path, st);
	if (fd < 0)
		return fd;
	ret = read_all(fd, doc.file, &text, &len, st);
	if (!standard_input)
		close(fd);
	if (!ret)
		ret = parse(&doc.obj, text, len, doc.file, st);
	free(text);
	if (!ret)
		ret = read_document(m, facts, has_facts, device, &doc);
	json_object_put(doc.obj);
	return ret;
}
