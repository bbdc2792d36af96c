/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers queries about what jobs share: tenants, concurrency groups, locks. */
#include "master/internal.h"

void query_tenants(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
	struct rec_tenant_row row;
	uint64_t cursor = query->cursor, next;

	page_begin(&page, &master->scratch, query);
	while ((next = view_tenant(master->core, cursor, &row)) && page_add_tenant(&page, &row))
		cursor = next;
	query_finish(master, turn, query, &page, next ? cursor : 0);
}

void query_groups(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
	struct rec_group_row row;
	uint64_t cursor = query->cursor, next;

	page_begin(&page, &master->scratch, query);
	while ((next = view_group(master->core, cursor, &row)) && page_add_group(&page, &row))
		cursor = next;
	query_finish(master, turn, query, &page, next ? cursor : 0);
}

void query_locks(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
	struct rec_lock_row row;
	uint64_t cursor = query->cursor, next;

	page_begin(&page, &master->scratch, query);
	while ((next = view_lock(master->core, cursor, &master->scratch, &row)) && page_add_lock(&page, &row))
		cursor = next;
	query_finish(master, turn, query, &page, next ? cursor : 0);
}

void query_tokens(struct master *master, struct master_turn *turn, struct query *query)
{
	struct answer_page page;
	struct rec_token_row row;
	uint64_t cursor = query->cursor, next;

	page_begin(&page, &master->scratch, query);
	while ((next = view_token(master->core, cursor, &row)) && page_add_token(&page, &row))
		cursor = next;
	query_finish(master, turn, query, &page, next ? cursor : 0);
}
