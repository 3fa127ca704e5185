/* SPDX-License-Identifier: MIT */
#include "descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

int descriptor_send(int socket, int descriptor, void *bytes, size_t nr_bytes)
{
	struct iovec part = { bytes, nr_bytes };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &descriptor, sizeof(descriptor));
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* More descriptors than one do not fit, and are closed by the kernel. */
int descriptor_receive(int socket, void *ret_bytes, size_t nr_bytes)
{
	struct iovec part = { ret_bytes, nr_bytes };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *header;
	ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	int descriptor;

	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
	return descriptor;
}

void descriptor_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
