/* SPDX-License-Identifier: MIT */
/*
 * A process that has something which can be had anew gives it back when others ask (shared/ask.h):
 * a thread of the library's waits for that.
 */
#ifndef UMEMCG_SHARED_SERVE_H
#define UMEMCG_SHARED_SERVE_H

/** serve_start - from now on, if the process is a leaf of a shared tree; once is enough. 0, or
 * -EAGAIN if there is no thread to be had: nobody will ask then */
int serve_start(void);

/** serve_renew - as serve_start(), in a child that was forked by one that served */
void serve_renew(void);

/** serve_forget - in a fork child: the thread is not there any more */
void serve_forget(void);

#endif
