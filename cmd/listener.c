/* SPDX-License-Identifier: MIT */
/* Receiving what the kernel asks, and answering. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "listener.h"

/* A newer kernel may write more than this program's structures have. */
union notification {
	struct seccomp_notif request;
	struct seccomp_notif_resp response;
	char room[1024];
};

/* Of newer kernels' headers (6.6). */
#define SET_FLAGS         SECCOMP_IOW(4, uint64_t)
#define FLAG_SYNC_WAKE_UP 1ul

void listener_hurry(int listener)
{
	ioctl(listener, SET_FLAGS, FLAG_SYNC_WAKE_UP);
}

int listener_receive(int listener, struct call *ret_call)
{
	union notification notification;

	memset(&notification, 0, sizeof(notification));
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification.request))
		return -errno;
	ret_call->id = notification.request.id;
	ret_call->tid = (pid_t)notification.request.pid;
	ret_call->number = notification.request.data.nr;
	for (int i = 0; i < 6; i++)
		ret_call->args[i] = notification.request.data.args[i];
	return 0;
}

bool listener_waits(int listener, const struct call *call)
{
	uint64_t id = call->id;

	return !ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
}

static int respond(int listener, const struct call *call, int64_t value, int error, uint32_t flags)
{
	union notification notification;

	memset(&notification, 0, sizeof(notification));
	notification.response.id = call->id;
	notification.response.val = value;
	notification.response.error = error;
	notification.response.flags = flags;
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &notification.response) ? -errno : 0;
}

int listener_allow(int listener, const struct call *call)
{
	return respond(listener, call, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

int listener_answer(int listener, const struct call *call, int64_t value, int error)
{
	return respond(listener, call, value, error, 0);
}
