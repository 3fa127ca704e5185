/* SPDX-License-Identifier: MIT */
/*
 * The filter: which calls the supervisor is asked about, and how a process gives it the right to
 * answer. A few instructions a system call, and none for most of them, since the kernel remembers
 * which numbers are allowed whatever their arguments are.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "filter.h"

/* For each step of the supervisor's, which answers within microseconds unless it is stopped. */
#define WAIT_MS 2000

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE 0
#endif

#define LOW_HALF(index)  (offsetof(struct seccomp_data, args[index]))
#define HIGH_HALF(index) (LOW_HALF(index) + 4)

/* Where each part of the program begins. */
enum {
	AT_NUMBER = 2,
	AT_MMAP = 10,
	AT_PROTECTION = 13,
	AT_BRK = 15,
	AT_NOTIFY = 19,
	AT_ALLOW = 20,
	NR_INSTRUCTIONS = 21,
};

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
/* At @here: go to @to if the value is @value, else to @otherwise. */
#define EQUAL(here, value, to, otherwise)                                                          \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, (to) - (here)-1, (otherwise) - (here)-1)
#define ANY_BIT(here, bits, to, otherwise)                                                         \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, (to) - (here)-1, (otherwise) - (here)-1)

/*
 * Asked about: private writable anonymous mmap; mprotect that makes writable; brk, but for the
 * question brk(0); munmap, mremap; execve, execveat, which end an image. Calls of another
 * architecture (int 0x80, x32) are not.
 */
static struct sock_filter instructions[NR_INSTRUCTIONS] = {
	[0] = LOAD(offsetof(struct seccomp_data, arch)),
	[1] = EQUAL(1, ARCHITECTURE, AT_NUMBER, AT_ALLOW),
	[AT_NUMBER] = LOAD(offsetof(struct seccomp_data, nr)),
	[3] = EQUAL(3, SYS_mmap, AT_MMAP, 4),
	[4] = EQUAL(4, SYS_mprotect, AT_PROTECTION, 5),
	[5] = EQUAL(5, SYS_brk, AT_BRK, 6),
	[6] = EQUAL(6, SYS_munmap, AT_NOTIFY, 7),
	[7] = EQUAL(7, SYS_mremap, AT_NOTIFY, 8),
	[8] = EQUAL(8, SYS_execve, AT_NOTIFY, 9),
	[9] = EQUAL(9, SYS_execveat, AT_NOTIFY, AT_ALLOW),
	[AT_MMAP] = LOAD(LOW_HALF(3)),
	[11] = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_TYPE | MAP_ANONYMOUS),
	[12] = EQUAL(12, MAP_PRIVATE | MAP_ANONYMOUS, AT_PROTECTION, AT_ALLOW),
	/* The third argument of mmap and of mprotect. */
	[AT_PROTECTION] = LOAD(LOW_HALF(2)),
	[14] = ANY_BIT(14, PROT_WRITE, AT_NOTIFY, AT_ALLOW),
	[AT_BRK] = LOAD(LOW_HALF(0)),
	[16] = EQUAL(16, 0, 17, AT_NOTIFY),
	[17] = LOAD(HIGH_HALF(0)),
	[18] = EQUAL(18, 0, AT_ALLOW, AT_NOTIFY),
	[AT_NOTIFY] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	[AT_ALLOW] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

/* The listener's descriptor, closed on exec, or a negative errno. */
static int install(void)
{
	struct sock_fprog program = { NR_INSTRUCTIONS, instructions };
	unsigned long flags =
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

	if (!ARCHITECTURE)
		return -ENOSYS;
	/* Twice at most: with privileges first, with the newest flag first. */
	for (;;) {
		long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

		if (listener >= 0)
			return (int)listener;
		if (errno == EACCES && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) {
			if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
				return -errno;
			continue;
		}
		if (errno != EINVAL)
			return -errno;
		if (!(flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV))
			return -ENOSYS;
		flags &= ~SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	}
}

static int receive_byte(int connection, enum filter_message *ret_message)
{
	struct pollfd pollfd = { .fd = connection, .events = POLLIN };
	char byte;
	ssize_t n;
	int r;

	do {
		r = poll(&pollfd, 1, WAIT_MS);
	} while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r < 0 ? -errno : -ETIMEDOUT;
	n = recv(connection, &byte, 1, MSG_DONTWAIT);
	if (n != 1)
		return n < 0 ? -errno : -ECONNRESET;
	*ret_message = byte;
	return 0;
}

/* A connection that has been greeted, or a negative errno. */
static int connect_supervisor(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval limit = { .tv_sec = WAIT_MS / 1000 };
	size_t length = strlen(name);
	enum filter_message message;
	int connection, r;

	if (!length || length >= sizeof(address.sun_path))
		return -EINVAL;
	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connection < 0)
		return -errno;
	/* A full backlog makes connect() wait: no longer than the rest. */
	setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(connection, (struct sockaddr *)&address,
		    offsetof(struct sockaddr_un, sun_path) + (socklen_t)length))
		r = errno == EAGAIN ? -ETIMEDOUT : -errno;
	else
		r = receive_byte(connection, &message);
	if (!r && message != FILTER_GREETING)
		r = message == FILTER_REFUSED ? -EPERM : -EPROTO;
	if (r) {
		close(connection);
		return r;
	}
	return connection;
}

/* The kernel adds who sends it: the supervisor asks for credentials. */
static int hand_over(int connection, int listener)
{
	char byte = FILTER_LISTENER;
	struct iovec part = { &byte, 1 };
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
	enum filter_message answer;
	int r;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &listener, sizeof(listener));
	if (sendmsg(connection, &message, MSG_NOSIGNAL) != 1)
		return -errno;
	r = receive_byte(connection, &answer);
	if (!r && answer != FILTER_TAKEN)
		r = -EPROTO;
	return r;
}

/*
 * Signals are blocked: a handler that allocates between the filter and the acknowledgement would
 * wait for a supervisor that only the code it interrupted can call. A supervisor that is killed
 * there has a guardian, which the second connection finds.
 */
static int install_and_hand_over(const char *name, int connection)
{
	sigset_t all, before;
	int listener, r;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	r = listener = install();
	if (listener >= 0) {
		r = hand_over(connection, listener);
		if (r) {
			int again = connect_supervisor(name);

			r = again < 0 ? again : hand_over(again, listener);
			if (again >= 0)
				close(again);
		}
		close(listener);
		if (r)
			r = -EIO;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

int filter_prepare(const char *name)
{
	int saved_errno = errno;
	int connection, r;

	if (syscall(SYS_munmap, FILTER_PROBE_ADDRESS, 0ul) == (long)filter_token(name)) {
		errno = saved_errno;
		return 0;
	}
	r = connection = connect_supervisor(name);
	if (connection >= 0) {
		r = install_and_hand_over(name, connection);
		close(connection);
	}
	errno = saved_errno;
	return r;
}

const char *filter_reason(int error)
{
	switch (error) {
	case -EBUSY:
		return "it is under another supervisor already";
	case -ENOSYS:
		return "the kernel has no seccomp user notification";
	case -EACCES:
	case -EPERM:
		return "seccomp is forbidden here, or the supervisor is another user's";
	case -EIO:
		return "the supervisor was lost";
	case -ETIMEDOUT:
		return "the supervisor does not answer";
	default:
		return "the supervisor cannot be reached";
	}
}
