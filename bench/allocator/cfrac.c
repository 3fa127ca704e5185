/* SPDX-License-Identifier: MIT */
/*
 * A big-number loop of small short-lived objects: the continued fraction of the square root of a
 * 40-digit N, as in factoring. Every operation allocates its result, and most free an operand.
 * Checked by the identity A[n]^2 = (-1)^(n+1) Q[n+1] modulo N. A round is one partial quotient.
 */
#include <string.h>

#include "alloc.h"
#include "workloads.h"

struct number {
	uint32_t nr_digits; /* without leading zeros: zero has none */
	uint16_t digits[];  /* base 65536, least first */
};

static uint64_t nr_numbers;

static struct number *number_new(uint32_t nr_digits)
{
	struct number *number = must_malloc(sizeof(*number) + nr_digits * sizeof(uint16_t));

	nr_numbers++;
	number->nr_digits = nr_digits;
	return number;
}

static struct number *number_trim(struct number *number)
{
	while (number->nr_digits && !number->digits[number->nr_digits - 1])
		number->nr_digits--;
	return number;
}

static struct number *number_small(uint16_t value)
{
	struct number *number = number_new(1);

	number->digits[0] = value;
	return number_trim(number);
}

static struct number *number_random(uint32_t nr_digits, uint64_t *seed)
{
	struct number *number = number_new(nr_digits);

	for (uint32_t i = 0; i < nr_digits; i++)
		number->digits[i] = (uint16_t)(random_next(seed) | 1);
	return number;
}

static struct number *number_copy(const struct number *from)
{
	struct number *copy = number_new(from->nr_digits);

	memcpy(copy->digits, from->digits, from->nr_digits * sizeof(uint16_t));
	return copy;
}

static uint32_t digit(const struct number *number, uint32_t index)
{
	return index < number->nr_digits ? number->digits[index] : 0;
}

static bool number_equal(const struct number *a, const struct number *b)
{
	return a->nr_digits == b->nr_digits &&
	       !memcmp(a->digits, b->digits, a->nr_digits * sizeof(uint16_t));
}

/* a + sign * b, which must not be negative; consumes a. */
static struct number *number_add(struct number *a, const struct number *b, int32_t sign)
{
	uint32_t nr_digits = (a->nr_digits > b->nr_digits ? a->nr_digits : b->nr_digits) + 1;
	struct number *sum = number_new(nr_digits);
	int32_t carry = 0;

	for (uint32_t i = 0; i < nr_digits; i++) {
		carry += (int32_t)digit(a, i) + sign * (int32_t)digit(b, i);
		sum->digits[i] = (uint16_t)carry;
		carry >>= 16;
	}
	alloc_free(a);
	return number_trim(sum);
}

static struct number *number_mul(const struct number *a, const struct number *b)
{
	struct number *product = number_new(a->nr_digits + b->nr_digits);

	memset(product->digits, 0, product->nr_digits * sizeof(uint16_t));
	for (uint32_t i = 0; i < a->nr_digits; i++) {
		uint32_t carry = 0;

		for (uint32_t j = 0; j < b->nr_digits; j++) {
			carry += (uint32_t)a->digits[i] * b->digits[j] + product->digits[i + j];
			product->digits[i + j] = (uint16_t)carry;
			carry >>= 16;
		}
		product->digits[i + b->nr_digits] = (uint16_t)carry;
	}
	return number_trim(product);
}

/* Is the window of b's digits and one more at least b? */
static bool window_reaches(const uint16_t *window, const struct number *b)
{
	if (window[b->nr_digits])
		return true;
	for (uint32_t i = b->nr_digits; i-- > 0;) {
		if (window[i] != b->digits[i])
			return window[i] > b->digits[i];
	}
	return true;
}

/* At most window / b, from the leading digits, and 1 or more if the window reaches b. */
static uint32_t window_quotient(const uint16_t *window, const struct number *b)
{
	uint32_t top = b->nr_digits - 1;
	uint64_t above = (uint64_t)window[top + 1] << 32 | (uint64_t)window[top] << 16;
	uint64_t below = (uint64_t)b->digits[top] << 16;
	uint64_t quotient;

	if (top) {
		above |= window[top - 1];
		below |= b->digits[top - 1];
	}
	quotient = above / (below + 1);
	return quotient ? (uint32_t)quotient : window_reaches(window, b);
}

static void window_subtract(uint16_t *window, const struct number *b, uint32_t factor)
{
	uint32_t borrow = 0;

	for (uint32_t i = 0; i < b->nr_digits; i++) {
		uint32_t taken = factor * b->digits[i] + borrow;

		borrow = (taken >> 16) + (window[i] < (uint16_t)taken);
		window[i] = (uint16_t)(window[i] - taken);
	}
	window[b->nr_digits] = (uint16_t)(window[b->nr_digits] - borrow);
}

/* a / b, with the rest in *ret_rest; consumes a. */
static struct number *number_divide(struct number *a, const struct number *b,
				    struct number **ret_rest)
{
	struct number *rest = number_new(a->nr_digits + 1);
	struct number *quotient;

	memcpy(rest->digits, a->digits, a->nr_digits * sizeof(uint16_t));
	rest->digits[a->nr_digits] = 0;
	quotient = number_new(a->nr_digits < b->nr_digits ? 0 : a->nr_digits - b->nr_digits + 1);
	for (uint32_t at = quotient->nr_digits; at-- > 0;) {
		uint32_t factor, total = 0;

		while ((factor = window_quotient(rest->digits + at, b)) != 0) {
			window_subtract(rest->digits + at, b, factor);
			total += factor;
		}
		quotient->digits[at] = (uint16_t)total;
	}
	alloc_free(a);
	*ret_rest = number_trim(rest);
	return number_trim(quotient);
}

static struct number *number_modulo(struct number *a, const struct number *b)
{
	struct number *rest;

	alloc_free(number_divide(a, b, &rest));
	return rest;
}

static struct number *number_quotient(struct number *a, const struct number *b)
{
	struct number *rest, *quotient = number_divide(a, b, &rest);

	alloc_free(rest);
	return quotient;
}

/* Divides by small primes as long as that leaves no rest, as a search for smooth numbers does. */
static struct number *number_smooth_part(const struct number *number)
{
	static const uint16_t primes[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37 };
	struct number *left = number_copy(number);

	for (size_t i = 0; i < sizeof(primes) / sizeof(primes[0]); i++) {
		struct number *prime = number_small(primes[i]);
		struct number *rest, *quotient = number_divide(number_copy(left), prime, &rest);

		if (rest->nr_digits == 0) {
			alloc_free(left);
			left = quotient;
		} else {
			alloc_free(quotient);
		}
		alloc_free(rest);
		alloc_free(prime);
	}
	return left;
}

/* The state of the expansion: of sqrt(N), and of the convergents' numerators modulo N. */
struct expansion {
	struct number *n, *root, *p, *q, *numerator, *before;
};

static void expansion_init(struct expansion *x, uint64_t *seed)
{
	struct number *excess = number_random(4, seed);

	/* root^2 + excess with excess <= 2 root has this root, which saves computing it. */
	x->root = number_random(5, seed);
	x->n = number_add(number_mul(x->root, x->root), excess, 1);
	x->p = number_small(0);
	x->q = number_small(1);
	x->numerator = number_small(1);
	x->before = number_small(0);
	alloc_free(excess);
}

static void expansion_fini(struct expansion *x)
{
	struct number *all[] = { x->n, x->root, x->p, x->q, x->numerator, x->before };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		alloc_free(all[i]);
}

static void expansion_step(struct expansion *x)
{
	struct number *partial, *product, *square;

	partial = number_quotient(number_add(number_copy(x->root), x->p, 1), x->q);
	product = number_add(number_mul(partial, x->q), x->p, -1);
	alloc_free(x->p);
	x->p = product;

	square = number_mul(x->p, x->p);
	product = number_quotient(number_add(number_copy(x->n), square, -1), x->q);
	alloc_free(square);
	alloc_free(x->q);
	x->q = product;

	product = number_add(number_mul(partial, x->numerator), x->before, 1);
	alloc_free(x->before);
	x->before = x->numerator;
	x->numerator = number_modulo(product, x->n);
	alloc_free(partial);
}

static bool expansion_holds(const struct expansion *x, bool odd)
{
	struct number *square = number_modulo(number_mul(x->numerator, x->numerator), x->n);
	struct number *expected = number_copy(x->q);
	bool holds;

	if (odd) {
		struct number *minus = number_add(number_copy(x->n), expected, -1);

		alloc_free(expected);
		expected = minus;
	}
	holds = number_equal(square, expected);
	alloc_free(square);
	alloc_free(expected);
	return holds;
}

uint64_t cfrac_run(const struct parameters *parameters)
{
	uint64_t seed = parameters->seed;
	struct expansion x;

	nr_numbers = 0;
	expansion_init(&x, &seed);
	for (uint64_t i = 1; i <= parameters->nr_rounds; i++) {
		expansion_step(&x);
		alloc_free(number_smooth_part(x.q));
		if (i % 16 == 0)
			workload_expect(expansion_holds(&x, false), "even numerator of cfrac");
		if (i % 16 == 9)
			workload_expect(expansion_holds(&x, true), "odd numerator of cfrac");
	}
	expansion_fini(&x);
	return nr_numbers;
}
