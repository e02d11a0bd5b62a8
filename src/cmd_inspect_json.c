// SPDX-License-Identifier: GPL-2.0-or-later
/* What inspect found, as JSON. */
#include <string.h>

#include "cmd_inspect.h"
#include "report/json_facts.h"
#include "util/json.h"

static void put_text(struct json_object *obj, const char *key, const char *text)
{
	json_put_string(obj, key, *text ? text : NULL);
}

static struct json_object *copies_json(const struct inspect *h)
{
	static const char *const names[] = {"primary", "secondary"};
	struct json_object *list = json_object_new_array(), *item;

	for (unsigned i = 0; i < h->headers.n; i++) {
		const struct header_copy *c = &h->headers.copies[i];

		item = json_object_new_object();
		json_put_string(item, "name", names[i]);
		json_put_u64(item, "offset", c->offset);
		json_put_u64_or_null(item, "size", c->size);
		json_put_u64_or_null(item, "sequence", c->sequence);
		json_put_bool(item, "found", c->found);
		json_put_bool(item, "valid", c->valid && h->load[i].loads);
		put_text(item, "reason", *c->reason ? c->reason : h->load[i].reason);
		json_append(list, item);
	}
	return list;
}

static struct json_object *keyslots_json(const struct inspect *h)
{
	struct json_object *list = json_object_new_array(), *item, *pbkdf;

	for (unsigned i = 0; i < h->n_keyslots; i++) {
		const struct inspect_keyslot *k = &h->keyslots[i];

		item = json_object_new_object();
		json_put_u64(item, "slot", (uint64_t)k->slot);
		json_put_bool(item, "bound", k->bound);
		json_put_string(item, "priority", k->priority);
		put_text(item, "cipher", k->cipher);
		json_put_u64_or_null(item, "key_bits", k->key_bits);
		pbkdf = *k->pbkdf.type ? json_object_new_object() : NULL;
		if (pbkdf) {
			json_put_string(pbkdf, "type", k->pbkdf.type);
			put_text(pbkdf, "hash", k->pbkdf.hash);
			json_put_u64(pbkdf, "iterations", k->pbkdf.iterations);
			json_put_u64_or_null(pbkdf, "memory", k->pbkdf.memory);
			json_put_u64_or_null(pbkdf, "threads", k->pbkdf.threads);
		}
		json_put(item, "pbkdf", pbkdf);
		json_put_u64_or_null(item, "area_offset", k->area_offset);
		json_put_u64_or_null(item, "area_size", k->area_size);
		json_put_u64(item, "area_damaged_sectors",
			     k->area_outside ? k->area_size / 512 : k->area_bad);
		put_text(item, "impossible", k->absurd);
		json_put_u64_or_null(item, "unlock_ms", (uint64_t)(k->unlock_ms + 0.5));
		json_append(list, item);
	}
	return list;
}

static struct json_object *words_json(const char *(*word)(uint32_t, unsigned), uint32_t bits)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; word(bits, i); i++)
		json_append_string(list, word(bits, i));
	return list;
}

static struct json_object *header_json(const struct inspection *in)
{
	const struct inspect *h = &in->header;
	struct json_object *obj = json_object_new_object();

	json_put_path(obj, "path", in->header_path);
	json_put_string(obj, "type", h->headers.kind == HEADER_LUKS1 ? "luks1" : "luks2");
	json_put_bool(obj, "loaded", h->loaded);
	json_put(obj, "copies", copies_json(h));
	put_text(obj, "uuid", h->uuid);
	put_text(obj, "label", h->label);
	put_text(obj, "subsystem", h->subsystem);
	json_put_bool(obj, "detached", in->detached);
	json_put_bool(obj, "backup", in->backup);
	json_put_u64_or_null(obj, "metadata_size", h->metadata_size);
	json_put_u64_or_null(obj, "keyslots_size", h->keyslots_size);
	json_put(obj, "keyslots", keyslots_json(h));
	json_put_u64(obj, "tokens", h->n_tokens);
	json_put(obj, "flags", words_json(inspect_flag, h->flags));
	json_put(obj, "requirements", words_json(inspect_requirement, h->requirements));
	put_text(obj, "requirements_unknown", h->unknown);
	put_text(obj, "reencryption", h->reencrypt);
	json_put_bool(obj, "reencryption_left", h->reencrypt_left);
	put_text(obj, "unlock_reason", in->unlock_reason);
	return obj;
}

static struct json_object *mapping_json(const struct inspection *in)
{
	const struct mapping *m = &in->mapping;
	struct json_object *obj = json_object_new_object(), *flags = json_object_new_array();

	json_put_string(obj, "name", m->name);
	json_put_bool(obj, "seen", in->mapping_seen);
	put_text(obj, "reason", in->mapping_reason);
	put_text(obj, "uuid", m->uuid);
	put_text(obj, "type", m->type);
	put_text(obj, "device", m->on);
	put_text(obj, "cipher", m->cipher);
	json_put_u64_or_null(obj, "key_bits", m->key_bits);
	json_put_bool(obj, "key_in_keyring", m->key_in_keyring);
	json_put_u64_or_null(obj, "sector_size", m->sector);
	put_text(obj, "integrity", m->integrity);
	json_put_u64(obj, "iv_offset", m->iv_offset);
	json_put_u64(obj, "data_offset", m->offset);
	json_put_u64_or_null(obj, "size", m->size);
	json_put_bool(obj, "read_only", m->read_only);
	json_put_bool(obj, "suspended", m->suspended);
	for (unsigned i = 0; i < m->n_flags; i++)
		json_append_string(flags, m->flags[i]);
	json_put(obj, "flags", flags);
	return obj;
}

static struct json_object *volume_json(const struct inspection *in)
{
	const struct inspect *h = in->has_header && in->header.loaded ? &in->header : NULL;
	const struct mapping *m = in->mapping_seen ? &in->mapping : NULL;
	const struct spec *spec = inspection_spec(in);
	struct json_object *obj;
	char text[SPEC_TEXT_MAX];

	if (!h && !m)
		return NULL;
	obj = json_object_new_object();
	json_put_string(obj, "spec", spec ? spec_print(spec, text) : NULL);
	json_put_string(obj, "cipher", h ? h->cipher : m->cipher);
	json_put_u64(obj, "key_bits", h ? h->key_bits : m->key_bits);
	json_put_u64(obj, "sector_size", h ? h->sector : m->sector);
	json_put_u64(obj, "data_offset", h ? h->data_offset : m->offset);
	put_text(obj, "integrity", h ? h->integrity : m->integrity);
	json_put_u64(obj, "tag_bytes", h ? h->tag : m->tag);
	json_put_u64_or_null(obj, "strength_bits", spec ? spec_strength(spec) : 0);
	json_put_string(obj, "class", spec ? spec_class_words(spec) : NULL);
	json_put_string(obj, "protects", spec ? spec->kind->protects : NULL);
	json_put_string(obj, "basis", in->has_now ? plan_basis_name(in->now.basis) : NULL);
	json_put_u64_or_null(obj, "expected_bytes_per_second",
			     in->has_now ? (uint64_t)in->now.speed : 0);
	json_put_u64_or_null(obj, "encrypt_bytes_per_second",
			     in->has_now ? (uint64_t)in->now.encrypt : 0);
	json_put_u64_or_null(obj, "decrypt_bytes_per_second",
			     in->has_now ? (uint64_t)in->now.decrypt : 0);
	put_text(obj, "reason", in->now_reason);
	return obj;
}

int inspection_json(const struct inspection *in)
{
	struct json_object *doc = json_document("inspect"), *plan = NULL;

	json_put_path(doc, "path", in->path);
	json_put(doc, "device", in->has_device ? report_device_json(&in->device) : NULL);
	json_put(doc, "header", in->has_header ? header_json(in) : NULL);
	put_text(doc, "header_reason", in->header_reason);
	json_put(doc, "mapping", in->has_mapping ? mapping_json(in) : NULL);
	json_put(doc, "volume", volume_json(in));
	if (in->has_plan) {
		plan = json_object_new_object();
		cmd_plan_json(plan, &in->plan, &in->source, in->path, NULL, NULL);
	}
	json_put(doc, "recommendation", plan);
	put_text(doc, "recommendation_reason", in->plan_reason);
	json_put(doc, "findings", report_findings_json(&in->findings));
	return json_print(doc);
}
