// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the guests need and no program at hand does.
 *
 *   tool exit STATUS          the virtual machine ends, and tells STATUS to its starter
 *   tool deny COMMAND...      runs it as a container might: AF_ALG sockets are refused (EPERM)
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

/* QEMU's isa-debug-exit: it ends with twice the value written there, plus one. */
#define EXIT_PORT 0xf4
/* So that no status of ours is one of QEMU's own. */
#define EXIT_BASE 16

static int leave(int status)
{
	sync();
#ifdef __x86_64__
	if (!ioperm(EXIT_PORT, 4, 1))
		outl(EXIT_BASE + (status < 0 || status > 100 ? 100 : status), EXIT_PORT);
#endif
	/* User-mode Linux has no such port. */
	reboot(RB_POWER_OFF);
	return 1;
}

static int deny(char **command)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_ALG, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("tool deny");
		return 125;
	}
	execvp(command[0], command);
	perror(command[0]);
	return 127;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "exit"))
		return leave(atoi(argv[2]));
	if (argc >= 3 && !strcmp(argv[1], "deny"))
		return deny(argv + 2);
	fprintf(stderr, "usage: tool exit STATUS | deny COMMAND...\n");
	return 1;
}
