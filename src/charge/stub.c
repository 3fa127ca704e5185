/* SPDX-License-Identifier: MIT */
/*
 * Charging where the controller is not compiled in. The heap above keeps its lists at the gates
 * all the same; the stock then has nothing to count, and never says no.
 */
#include "charge/flight.h"
#include "charge/stock.h"

uint32_t stock_gate_bytes[STOCK_NR_GATES];

void flight_register(struct flight *flight)
{
	(void)flight;
}

void stock_init(struct stock *stock, struct flight *flight)
{
	stock->flight = flight;
}

void stock_init_closed(struct stock *stock)
{
	(void)stock;
}

void stock_bind(struct stock *stock, uint32_t owner)
{
	(void)stock;
	(void)owner;
}

int stock_refill_counted(struct stock *stock, unsigned int gate, uint32_t nr_new)
{
	(void)stock;
	(void)gate;
	(void)nr_new;
	return 0;
}

void stock_unbind(struct stock *stock)
{
	(void)stock;
}

int stock_charge(struct stock *stock, uint64_t nr_bytes)
{
	(void)stock;
	(void)nr_bytes;
	return 0;
}

void stock_uncharge(struct stock *stock, uint64_t nr_bytes)
{
	(void)stock;
	(void)nr_bytes;
}

void stock_forget_gate(struct stock *stock, unsigned int gate)
{
	(void)stock;
	(void)gate;
}
