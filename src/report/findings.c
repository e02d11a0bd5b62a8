// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings_internal.h"
#include "util/units.h"

#define LOW_MEMORY (1ULL << 30) /* what Argon2id takes by cryptsetup's default */

const char *finding_severity_name(enum finding_severity severity)
{
	static const char *const names[] = {
		[FINDING_INFO] = "info",
		[FINDING_WARNING] = "warning",
		[FINDING_ERROR] = "error",
	};

	return (unsigned)severity < sizeof(names) / sizeof(names[0]) ? names[severity] : "info";
}

void findings_free(struct findings *findings)
{
	if (!findings)
		return;
	free(findings->list);
	findings->list = NULL;
	findings->n = 0;
}

struct finding *findings_add(struct findings *findings, const char *id,
			     enum finding_severity severity, const char *format, ...)
{
	static struct finding thrown_away;
	struct finding *grown, *f;
	va_list ap;

	grown = reallocarray(findings->list, findings->n + 1, sizeof(*grown));
	if (!grown) {
		findings->failed = true;
		return &thrown_away;
	}
	findings->list = grown;
	f = &grown[findings->n++];
	memset(f, 0, sizeof(*f));
	f->id = id;
	f->severity = severity;
	va_start(ap, format);
	vsnprintf(f->message, sizeof(f->message), format, ap);
	va_end(ap);
	return f;
}

void finding_fix(struct finding *finding, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(finding->fix, sizeof(finding->fix), format, ap);
	va_end(ap);
}

/* The module that makes the kernel use the CPU's AES instructions, and its configuration option. */
static void aes_driver_of(const struct cpu_facts *cpu, const char **module, const char **option)
{
	*module = "its AES driver";
	*option = "that driver";
	switch (cpu->family) {
	case CPU_FAMILY_X86:
		*module = "aesni_intel";
		*option = "CONFIG_CRYPTO_AES_NI_INTEL";
		break;
	case CPU_FAMILY_ARM:
		*module = strcmp(cpu->arch, "aarch64") ? "aes_arm_ce" : "aes_ce_blk";
		*option = strcmp(cpu->arch, "aarch64") ? "CONFIG_CRYPTO_AES_ARM_CE"
						       : "CONFIG_CRYPTO_AES_ARM64_CE_BLK";
		break;
	case CPU_FAMILY_PPC:
		*module = "vmx_crypto";
		*option = "CONFIG_CRYPTO_DEV_VMX_ENCRYPT";
		break;
	case CPU_FAMILY_S390:
		*module = "aes_s390";
		*option = "CONFIG_CRYPTO_AES_S390";
		break;
	case CPU_FAMILY_RISCV:
		*module = "aes_riscv64";
		*option = "CONFIG_CRYPTO_AES_RISCV64";
		break;
	default:
		break;
	}
}

/* Whether the kernel makes use of the AES instructions that the CPU has. */
static void find_aes_use(struct findings *out, const struct findings_input *in)
{
	const struct cpu_facts *cpu = &in->facts->cpu;
	const struct kernel_facts *kernel = &in->facts->kernel;
	const char *driver, *module, *option;
	enum kernel_aes_kind kind;
	struct finding *f;

	kind = kernel_aes_kind(kernel, "xts(aes)", &driver);
	if (!driver || cpu_has_aes(cpu) != 1)
		return;
	if (kind == KERNEL_AES_GENERIC || kind == KERNEL_AES_FIXED || kind == KERNEL_AES_SIMD) {
		f = findings_add(out, "aes-unused", FINDING_WARNING,
				 "The CPU has AES instructions, but the kernel's best driver for "
				 "xts(aes)%s is %s, which does not use them.",
				 kernel_driver_for(kernel, "xts(aes)")
					 ? ""
					 : ", going by its parts that are loaded now,",
				 driver);
		aes_driver_of(cpu, &module, &option);
		finding_fix(f, "Load the module %s, or use a kernel built with %s.", module,
			    option);
	} else if (kind == KERNEL_AES_CPU && cpu_can_use(cpu, CPU_VAES) &&
		   cpu_can_use(cpu, CPU_VPCLMULQDQ) && cpu_can_use(cpu, CPU_AVX2)) {
		f = findings_add(out, "vaes-unused", FINDING_INFO,
				 "The CPU has VAES, and the kernel's driver for xts(aes), %s, "
				 "works on 128 bits at a time.",
				 driver);
		finding_fix(f, "Linux 6.10 and later have drivers for VAES.");
	}
}

static void find_cpu(struct findings *out, const struct findings_input *in)
{
	const struct cpu_facts *cpu = &in->facts->cpu;
	const uint64_t unsaved = cpu->advertised & ~cpu->usable & ~cpu->disabled;
	struct finding *f;

	if (!cpu->known) {
		f = findings_add(out, "cpu-unknown", FINDING_INFO,
				 "Nothing says what this CPU can do: whether it has AES "
				 "instructions is not known.");
		finding_fix(f, "Measure: bench tells what the ciphers do here.");
	} else if (cpu_has_aes(cpu) == 0) {
		f = findings_add(
			out, "no-aes", FINDING_INFO,
			"The CPU has no AES instructions%s: AES is slow here, and Adiantum "
			"is the likely choice.",
			cpu->family == CPU_FAMILY_X86 ? ", or a hypervisor hides them" : "");
		if (cpu->family == CPU_FAMILY_X86)
			finding_fix(f, "In a virtual machine, let it have the host's CPU model.");
	}
	if (!in->described && cpu->listed && cpu_advertises(cpu, CPU_AES) &&
	    !(cpu->listed & 1ULL << CPU_AES)) {
		f = findings_add(out, "aes-disabled-by-os", FINDING_WARNING,
				 "The CPU has AES instructions, but the kernel does not count them "
				 "among its features and will not use them.");
		finding_fix(f, "Look for clearcpuid= or nosse on the kernel's command line.");
	}
	if (unsaved) {
		f = findings_add(out, "avx-not-saved", FINDING_WARNING,
				 "The CPU has %s, but the operating system does not save the "
				 "registers that they need, so they cannot be used.",
				 unsaved & 1ULL << CPU_AVX ? "AVX and what builds on it"
							   : "AVX-512 instructions");
		finding_fix(f, "Look for noxsave or clearcpuid= on the kernel's command line, or "
			       "what the hypervisor masks.");
	}
}

static void find_cpu_share(struct findings *out, const struct cpu_facts *cpu)
{
	struct finding *f;

	if (cpu->quota > 0 && (!cpu->online || cpu->quota < cpu->online)) {
		f = findings_add(out, "cpu-quota", FINDING_INFO,
				 "A control group allows this process %.2f CPUs' worth of time%s: "
				 "measurements are of that, not of the machine.",
				 cpu->quota, cpu->quota < 1 ? ", in bursts" : "");
		finding_fix(f, "Run it outside of the container or the limited unit.");
	}
	if (cpu->allowed && cpu->online && cpu->allowed < cpu->online)
		findings_add(out, "cpu-affinity", FINDING_INFO,
			     "This process may run on %u of the %u CPUs.", cpu->allowed,
			     cpu->online);
}

/* What keeps AF_ALG from measuring XTS-AES, which any kernel with dm-crypt should have; "" when
 * nothing does. */
static const char *af_alg_obstacle(const struct kernel_facts *kernel)
{
	const struct kernel_attempt *xts = kernel_attempt_for(kernel, "xts(aes)");

	if (!kernel->af_alg.available)
		return kernel->af_alg.reason;
	return xts && xts->tried && !xts->available ? xts->reason : "";
}

static const char *af_alg_cure(const struct kernel_facts *kernel)
{
	const struct kernel_af_alg *a = &kernel->af_alg;

	if (a->restrict_level >= 1)
		return "sysctl crypto.af_alg_restrict=0 while measuring.";
	if (a->error == EPERM || a->error == EACCES)
		return "Run it outside of the container.";
	if (!kernel->modules)
		return "This kernel has no modules installed, so it needs AF_ALG built in "
		       "(CONFIG_CRYPTO_USER_API_SKCIPHER). Other engines measure without it.";
	return "modprobe algif_skcipher, where the kernel has it. Other engines measure without it.";
}

static void find_af_alg(struct findings *out, const struct findings_input *in)
{
	const struct kernel_af_alg *a = &in->facts->kernel.af_alg;
	const char *obstacle = af_alg_obstacle(&in->facts->kernel);
	struct finding *f;

	if (!in->described && *obstacle) {
		f = findings_add(out, "af-alg-missing", FINDING_INFO,
				 "The kernel's ciphers cannot be measured through AF_ALG: %s.",
				 obstacle);
		finding_fix(f, "%s", af_alg_cure(&in->facts->kernel));
	}
	if (a->restrict_level >= 1) {
		f = findings_add(
			out, "af-alg-restricted", FINDING_INFO,
			"The sysctl crypto.af_alg_restrict is %d: %s.", a->restrict_level,
			a->restrict_level == 1
				? "only some ciphers can be reached through AF_ALG, and a refusal there does not mean that dm-crypt lacks one"
				: "AF_ALG is turned off");
		finding_fix(f, "sysctl crypto.af_alg_restrict=0 while measuring.");
	}
}

static void find_kernel(struct findings *out, const struct findings_input *in)
{
	const struct kernel_facts *kernel = &in->facts->kernel;
	struct finding *f;

	if (!kernel->listed)
		findings_add(out, "no-crypto-list", FINDING_INFO,
			     "/proc/crypto cannot be read: which drivers the kernel has is not "
			     "known.");
	if (kernel->fips)
		findings_add(out, "fips", FINDING_INFO,
			     "The kernel runs in FIPS mode: only approved ciphers (AES) and PBKDF2 "
			     "are admitted.");
	if (kernel->dm.denied) {
		f = findings_add(out, "dm-no-permission", FINDING_INFO,
				 "What dm-crypt can do here could not be seen: %s.",
				 kernel->dm.reason);
		finding_fix(f, "Run it as root.");
	} else if (!kernel->dm.available) {
		f = findings_add(out, "no-dm-crypt", in->described ? FINDING_INFO : FINDING_WARNING,
				 "No dm-crypt mapping can be made here: %s. A volume can be made, "
				 "but not opened.",
				 kernel->dm.reason);
		finding_fix(f, "%s",
			    kernel->modules
				    ? "modprobe dm_crypt, where the kernel has it."
				    : "This kernel has no modules installed, so it needs dm-crypt "
				      "built in (CONFIG_DM_CRYPT).");
	}
}

static void find_memory(struct findings *out, const struct memory_facts *memory)
{
	uint64_t ceiling = memory_ceiling(memory);
	char size[UNITS_MAX], total[UNITS_MAX];
	struct finding *f;

	if (memory->limit && (!memory->total || memory->limit < memory->total))
		findings_add(out, "memory-limit", FINDING_INFO,
			     "A control group allows this process %s of memory%s%s.",
			     units_size(memory->limit, size), memory->total ? " of " : "",
			     memory->total ? units_size(memory->total, total) : "");
	if (ceiling && ceiling < LOW_MEMORY) {
		f = findings_add(out, "low-memory", FINDING_WARNING,
				 "There are only %s of memory for Argon2id, which takes up to 1 "
				 "GiB by default: it is given less, and protects a weak passphrase "
				 "less.",
				 units_size(ceiling, size));
		finding_fix(f, "Use a long passphrase, or a random key file.");
	}
}

static int by_severity(const void *a, const void *b)
{
	const struct finding *const *x = a, *const *y = b;

	if ((*x)->severity != (*y)->severity)
		return (int)(*y)->severity - (int)(*x)->severity;
	return (*x > *y) - (*x < *y);
}

/* qsort() need not keep the order of equals, so it sorts places, which tell them apart. */
int findings_sort(struct findings *findings)
{
	struct finding **places, *sorted;
	size_t n = findings->n;

	if (findings->failed)
		return -ENOMEM;
	if (n < 2)
		return 0;
	places = reallocarray(NULL, n, sizeof(*places));
	sorted = reallocarray(NULL, n, sizeof(*sorted));
	if (!places || !sorted) {
		free(places);
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		places[i] = &findings->list[i];
	qsort(places, n, sizeof(*places), by_severity);
	for (size_t i = 0; i < n; i++)
		sorted[i] = *places[i];
	free(findings->list);
	free(places);
	findings->list = sorted;
	return 0;
}

int findings_make(struct findings *findings, const struct findings_input *in)
{
	memset(findings, 0, sizeof(*findings));
	if (in->device)
		findings_device(findings, in->device, in->described);
	find_aes_use(findings, in);
	find_cpu(findings, in);
	find_cpu_share(findings, &in->facts->cpu);
	find_kernel(findings, in);
	find_af_alg(findings, in);
	find_memory(findings, &in->facts->memory);
	if (!in->described && !in->privileged)
		finding_fix(
			findings_add(findings, "unprivileged", FINDING_INFO,
				     "Not run as root: dm-crypt could not be asked, and devices "
				     "may not be readable or show all of their users."),
			"Run it as root to see everything.");
	return findings_sort(findings);
}
