/* SPDX-License-Identifier: MIT */
/*
 * operator new and delete in all forms are charged, as libstdc++'s go by malloc; what does not fit
 * is std::bad_alloc, or a null pointer where the program asked for that.
 */
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "umemcg.h"

static struct umemcg *group;

#define require(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,            \
				     #condition);                                                  \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

struct alignas(256) aligned_object {
	char bytes[300];
};

/* Kept from the compiler, which may leave out pairs of new and delete. */
static void *volatile last;

static bool is_charged(void *object)
{
	last = object;
	return umemcg_usable_size(object) && umemcg_owner(object) == group;
}

static bool is_aligned(void *object, std::size_t alignment)
{
	return reinterpret_cast<std::uintptr_t>(object) % alignment == 0;
}

static int check_forms()
{
	const std::align_val_t alignment{ 512 };
	void *object;
	aligned_object *aligned;

	require(is_charged(object = ::operator new(100)));
	::operator delete(object);
	require(is_charged(object = ::operator new(100)));
	::operator delete (object, std::size_t{ 100 });
	require(is_charged(object = ::operator new[](100)));
	::operator delete[](object);
	require(is_charged(object = ::operator new(100, std::nothrow)));
	::operator delete(object, std::nothrow);
	require(is_charged(object = ::operator new[](100, std::nothrow)));
	::operator delete[](object, std::nothrow);
	require(is_charged(object = ::operator new(100, alignment)) && is_aligned(object, 512));
	::operator delete(object, alignment);
	require(is_charged(object = ::operator new[](100, alignment)) && is_aligned(object, 512));
	::operator delete[](object, std::size_t{ 100 }, alignment);
	require(is_charged(object = ::operator new(100, alignment, std::nothrow)));
	::operator delete(object, alignment, std::nothrow);
	require(is_charged(aligned = new aligned_object[3]) && is_aligned(aligned, 256));
	delete[] aligned;
	return 0;
}

static int check_refusals()
{
	const std::size_t nr_bytes = std::size_t{ 16 } << 20;
	bool was_caught = false;

	try {
		std::vector<std::string> strings;

		for (;;)
			strings.emplace_back(1000, 'x');
	} catch (const std::bad_alloc &) {
		was_caught = true;
	}
	require(was_caught);
	require(!(last = ::operator new(nr_bytes, std::nothrow)));
	require(!(last = ::operator new (nr_bytes, std::align_val_t{ 64 }, std::nothrow)));
	was_caught = false;
	try {
		last = new char[nr_bytes];
	} catch (const std::bad_alloc &) {
		was_caught = true;
	}
	require(was_caught);
	require(is_charged(last = ::operator new(1000)));
	::operator delete(last);
	return 0;
}

static int check_threads()
{
	bool is_inherited = false;
	bool was_refused = false;

	std::thread([&] { is_inherited = umemcg_current() == group; }).join();
	require(is_inherited);
	umemcg_set_max(group, 1 << 16);
	try {
		std::thread([] {}).join();
	} catch (const std::system_error &error) {
		was_refused = error.code() == std::errc::resource_unavailable_try_again;
	}
	require(was_refused);
	return 0;
}

int main()
{
	if (umemcg_create(nullptr, "tenant", &group) < 0)
		return 1;
	/* Room for the strings to grow, and for a thread's stack. */
	umemcg_set_max(group, 12 << 20);
	umemcg_enter(group);
	return check_forms() || check_refusals() || check_threads() ? 1 : 0;
}
