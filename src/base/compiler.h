/* SPDX-License-Identifier: MIT */
/* What the compiler is told about branches, visibility and thread-local storage. */
#ifndef UMEMCG_BASE_COMPILER_H
#define UMEMCG_BASE_COMPILER_H

#define likely(x)     __builtin_expect(!!(x), 1)
#define unlikely(x)   __builtin_expect(!!(x), 0)
#define always_inline inline __attribute__((always_inline))
#define noinline      __attribute__((__noinline__))
#define cold          __attribute__((__cold__, __noinline__))
#define aligned_to(n) __attribute__((aligned(n)))

/* The library is loaded at start or not at all, so its thread-local data has a fixed offset. */
#define thread_local_fast _Thread_local __attribute__((tls_model("initial-exec")))

/* For data that hot code names: without it a shared library would look up its address first. */
#define hidden __attribute__((visibility("hidden")))

#define CACHE_LINE 64

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define min(a, b)                                                                                  \
	({                                                                                         \
		__auto_type a_ = (a);                                                              \
		__auto_type b_ = (b);                                                              \
		a_ < b_ ? a_ : b_;                                                                 \
	})
#define max(a, b)                                                                                  \
	({                                                                                         \
		__auto_type a_ = (a);                                                              \
		__auto_type b_ = (b);                                                              \
		a_ > b_ ? a_ : b_;                                                                 \
	})

#endif
