// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef WITH_KCAPI
#include "measure/afalg_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/if_alg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Pages that a pipe holds unless told otherwise (pipe(7)). */
#define PIPE_PAGES 16

/* A request's control messages: its direction and its IV. */
union control {
	char bytes[CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(struct af_alg_iv) + 32)];
	struct cmsghdr align;
};

struct afalg_ring {
	int tfm;      /* the socket with the key */
	int pipe[2];  /* for splicing, or -1 */
	int *sockets; /* one a request */
	unsigned depth;
	size_t size, iv_size;
	aio_context_t aio; /* 0: one request at a time needs none */
	struct iocb *calls, **list;
	struct io_event *events;
};

int afalg_bind(const char *type, const char *name)
{
	struct sockaddr_alg sa = {.salg_family = AF_ALG};
	int err, fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf((char *)sa.salg_type, sizeof(sa.salg_type), "%s", type);
	snprintf((char *)sa.salg_name, sizeof(sa.salg_name), "%s", name);
	if (!bind(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

/* Of a socket's buffer, what requests may fill (crypto/af_alg.c: whole pages, and one in any case).
 */
static size_t usable(int fd, int option)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	socklen_t len = sizeof(int);
	int value = 0;

	if (getsockopt(fd, SOL_SOCKET, option, &value, &len) || value < 0)
		value = 0;
	return (size_t)value < page ? page : (size_t)value / page * page;
}

size_t afalg_send_buffer(void)
{
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	size_t size;

	if (fd < 0)
		return 0;
	size = usable(fd, SO_SNDBUF);
	close(fd);
	return size;
}

bool afalg_can_splice(size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = PIPE_PAGES * page;

	/* One that is not whole pages may begin in the middle of one. */
	return size % page ? size <= whole - page : size <= whole;
}

int afalg_make_room(int fd, size_t size, struct backend_error *error)
{
	static const int options[] = {SO_SNDBUF, SO_RCVBUF};

	for (size_t i = 0; i < 2; i++) {
		const int wanted = (int)size;

		if (usable(fd, options[i]) >= size)
			continue;
		/* The kernel doubles it, up to a limit. */
		setsockopt(fd, SOL_SOCKET, options[i], &wanted, sizeof(wanted));
		if (usable(fd, options[i]) < size)
			return backend_fail(error, EMSGSIZE,
					    "the kernel takes %zu bytes at once and not %zu: the "
					    "sysctl net.core.%s limits it",
					    usable(fd, options[i]), size,
					    i ? "rmem_max" : "wmem_max");
	}
	return 0;
}

static int open_sockets(struct afalg_ring *ring, struct backend_error *error)
{
	int ret;

	for (unsigned i = 0; i < ring->depth; i++) {
		ring->sockets[i] = accept4(ring->tfm, NULL, NULL, SOCK_CLOEXEC);
		if (ring->sockets[i] < 0)
			return backend_fail(error, errno, "request socket %u of %u: %s", i + 1,
					    ring->depth, strerror(errno));
		ret = afalg_make_room(ring->sockets[i], ring->size, error);
		if (ret)
			return ret;
	}
	return 0;
}

static int open_aio(struct afalg_ring *ring, struct backend_error *error)
{
	ring->calls = calloc(ring->depth, sizeof(*ring->calls));
	ring->list = calloc(ring->depth, sizeof(struct iocb *));
	ring->events = calloc(ring->depth, sizeof(*ring->events));
	if (!ring->calls || !ring->list || !ring->events)
		return backend_fail(error, ENOMEM, "out of memory");
	if (syscall(SYS_io_setup, ring->depth, &ring->aio) < 0)
		return backend_fail(error, errno,
				    "the kernel gives no asynchronous I/O (io_setup), which "
				    "several requests in flight need: %s",
				    strerror(errno));
	return 0;
}

static int set_up(struct afalg_ring *ring, const struct backend_cell *cell, const char *name,
		  const uint8_t *key, struct backend_error *error)
{
	const unsigned key_bytes = cell->spec.key_bits / 8;
	int ret;

	ring->sockets = malloc(ring->depth * sizeof(*ring->sockets));
	if (!ring->sockets)
		return backend_fail(error, ENOMEM, "out of memory");
	for (unsigned i = 0; i < ring->depth; i++)
		ring->sockets[i] = -1;
	ring->tfm = afalg_bind("skcipher", name);
	if (ring->tfm < 0)
		return backend_fail(error, -ring->tfm, "AF_ALG gives no %s: %s", name,
				    strerror(-ring->tfm));
	if (key_bytes && setsockopt(ring->tfm, SOL_ALG, ALG_SET_KEY, key, key_bytes))
		return backend_fail(error, errno, "%s refuses a key of %u bits: %s", name,
				    cell->spec.key_bits, strerror(errno));
	if (cell->path == MEASURE_SPLICE && pipe2(ring->pipe, O_CLOEXEC))
		return backend_fail(error, errno, "no pipe: %s", strerror(errno));
	ret = open_sockets(ring, error);
	return !ret && ring->depth > 1 ? open_aio(ring, error) : ret;
}

int afalg_ring_new(struct afalg_ring **out, const struct backend_cell *cell, const char *name,
		   const uint8_t *key, size_t iv_size, struct backend_error *error)
{
	struct afalg_ring *ring = calloc(1, sizeof(*ring));
	int ret;

	if (!ring)
		return backend_fail(error, ENOMEM, "out of memory");
	ring->tfm = ring->pipe[0] = ring->pipe[1] = -1;
	ring->depth = cell->depth ? cell->depth : 1;
	ring->size = cell->size;
	ring->iv_size = iv_size;
	ret = set_up(ring, cell, name, key, error);
	if (ret)
		afalg_ring_free(ring);
	else
		*out = ring;
	return ret;
}

void afalg_ring_free(struct afalg_ring *ring)
{
	if (!ring)
		return;
	if (ring->aio)
		syscall(SYS_io_destroy, ring->aio);
	for (unsigned i = 0; ring->sockets && i < ring->depth; i++)
		if (ring->sockets[i] >= 0)
			close(ring->sockets[i]);
	for (int i = 0; i < 2; i++)
		if (ring->pipe[i] >= 0)
			close(ring->pipe[i]);
	if (ring->tfm >= 0)
		close(ring->tfm);
	free(ring->sockets);
	free(ring->calls);
	free(ring->list);
	free(ring->events);
	free(ring);
}

static void put_control(union control *control, struct msghdr *msg, size_t iv_size,
			enum engine_direction direction, const uint8_t *iv)
{
	const uint32_t op = direction == ENGINE_ENCRYPT ? ALG_OP_ENCRYPT : ALG_OP_DECRYPT;
	const uint32_t len = (uint32_t)iv_size;
	struct cmsghdr *header;

	memset(control, 0, sizeof(*control));
	msg->msg_control = control;
	msg->msg_controllen = CMSG_SPACE(sizeof(op));
	if (iv_size)
		msg->msg_controllen += CMSG_SPACE(sizeof(struct af_alg_iv) + iv_size);
	header = CMSG_FIRSTHDR(msg);
	header->cmsg_level = SOL_ALG;
	header->cmsg_type = ALG_SET_OP;
	header->cmsg_len = CMSG_LEN(sizeof(op));
	memcpy(CMSG_DATA(header), &op, sizeof(op));
	if (!iv_size)
		return;
	header = CMSG_NXTHDR(msg, header);
	header->cmsg_level = SOL_ALG;
	header->cmsg_type = ALG_SET_IV;
	header->cmsg_len = CMSG_LEN(sizeof(struct af_alg_iv) + iv_size);
	memcpy(CMSG_DATA(header), &len, sizeof(len));
	memcpy(CMSG_DATA(header) + sizeof(struct af_alg_iv), iv, iv_size);
}

static int splice_in(struct afalg_ring *ring, int fd, struct iovec *iov)
{
	ssize_t n = vmsplice(ring->pipe[1], iov, 1, 0);
	size_t left = iov->iov_len;

	if (n < 0)
		return -errno;
	if ((size_t)n != left)
		return -EMSGSIZE;
	while (left) {
		n = splice(ring->pipe[0], NULL, fd, NULL, left, 0);
		if (n <= 0)
			return n ? -errno : -EMSGSIZE;
		left -= (size_t)n;
	}
	return 0;
}

static int send_one(struct afalg_ring *ring, unsigned i, enum engine_direction direction,
		    const struct afalg_request *request)
{
	struct iovec iov = {request->data, ring->size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	bool splicing = ring->pipe[0] >= 0;
	union control control;
	ssize_t n;

	put_control(&control, &msg, ring->iv_size, direction, request->iv);
	if (splicing)
		msg.msg_iovlen = 0;
	n = sendmsg(ring->sockets[i], &msg, splicing ? MSG_MORE : 0);
	if (n < 0)
		return -errno;
	if (splicing)
		return splice_in(ring, ring->sockets[i], &iov);
	return (size_t)n == ring->size ? 0 : -EMSGSIZE;
}

static int read_all(struct afalg_ring *ring, const struct afalg_request *requests, unsigned n)
{
	int ret = 0;
	long done;

	for (unsigned i = 0; i < n; i++) {
		ring->list[i] = &ring->calls[i];
		memset(ring->list[i], 0, sizeof(*ring->list[i]));
		ring->calls[i].aio_fildes = (uint32_t)ring->sockets[i];
		ring->calls[i].aio_lio_opcode = IOCB_CMD_PREAD;
		ring->calls[i].aio_buf = (uintptr_t)requests[i].data;
		ring->calls[i].aio_nbytes = ring->size;
	}
	for (unsigned given = 0; given < n; given += (unsigned)done) {
		done = syscall(SYS_io_submit, ring->aio, n - given, ring->list + given);
		if (done <= 0)
			return done ? -errno : -EIO;
	}
	for (unsigned had = 0; had < n; had += (unsigned)done) {
		done = syscall(SYS_io_getevents, ring->aio, 1, n - had, ring->events, NULL);
		if (done < 0 && errno != EINTR)
			return -errno;
		done = done < 0 ? 0 : done;
		for (long i = 0; i < done && !ret; i++)
			if (ring->events[i].res != (int64_t)ring->size)
				ret = ring->events[i].res < 0 ? (int)ring->events[i].res
							      : -EMSGSIZE;
	}
	return ret;
}

int afalg_ring_run(struct afalg_ring *ring, enum engine_direction direction,
		   const struct afalg_request *requests, unsigned n)
{
	ssize_t len;
	int ret = 0;

	for (unsigned i = 0; i < n && !ret; i++)
		ret = send_one(ring, i, direction, &requests[i]);
	if (ret)
		return ret;
	if (ring->aio)
		return read_all(ring, requests, n);
	len = read(ring->sockets[0], requests[0].data, ring->size);
	if (len < 0)
		return -errno;
	return (size_t)len == ring->size ? 0 : -EMSGSIZE;
}
#endif
