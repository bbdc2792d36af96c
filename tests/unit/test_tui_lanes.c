/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lanes of random graphs: the lines from a node lead to its children and to no other node, a row is never above a
 * parent's row, and the number of lanes is limited. And folding: which jobs become one node.
 */
#include "base/mem.h"
#include "base/rand.h"
#include "greatest.h"
#include "tui/fold.h"
#include "tui/lane_graph.h"
#include "tui/lanes.h"

GREATEST_MAIN_DEFS();

struct graph {
	size_t n;
	uint32_t *start, *children;
	uint8_t *edge;                   /* n x n */
};

static void graph_free(struct graph *graph)
{
	mem_free(graph->start);
	mem_free(graph->children);
	mem_free(graph->edge);
}

static struct graph from_matrix(size_t n, uint8_t *edge)
{
	struct graph graph = { .n = n, .edge = edge };
	uint32_t total = 0;

	graph.start = mem_array(n + 1, sizeof *graph.start);
	graph.children = mem_array(n * n + 1, sizeof *graph.children);
	for (size_t i = 0; i < n; i++) {
		graph.start[i] = total;
		for (size_t k = 0; k < n; k++)
			if (edge[i * n + k])
				graph.children[total++] = (uint32_t)k;
	}
	graph.start[n] = total;
	return graph;
}

/* The nodes are numbered at random, so that parents often have higher numbers than their children. */
static struct graph random_graph(struct rand_state *rand, size_t n, unsigned per_cent)
{
	uint8_t *edge = mem_array(n * n + 1, 1);
	uint32_t *rank = mem_array(n + 1, sizeof *rank);

	for (size_t i = 0; i < n; i++)
		rank[i] = (uint32_t)i;
	for (size_t i = n; i > 1; i--) {
		size_t k = rand_below(rand, i);
		uint32_t other = rank[k];

		rank[k] = rank[i - 1];
		rank[i - 1] = other;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			edge[i * n + k] = rank[i] < rank[k] && rand_below(rand, 100) < per_cent;
	mem_free(rank);
	return from_matrix(n, edge);
}

/* Follow a line down from a cell: straight through crossings, into forks and joins; mark every node that it reaches. */
static void trace(const struct lanes *lanes, size_t row, int lane, uint8_t *reached)
{
	while (row < lanes->count) {
		unsigned cell = lanes->rows[row].lanes[lane];

		if (!(cell & LANE_UP))
			return;
		if (cell & LANE_NODE) {
			reached[lanes->rows[row].node] = 1;
			return;
		}
		if (!(cell & LANE_DOWN)) {
			/* At a join, go left to the lane that continues. */
			do {
				lane--;
			} while (lane >= 0 &&
				 (lanes->rows[row].lanes[lane] & (LANE_UP | LANE_DOWN | LANE_LEFT)) !=
					 (LANE_UP | LANE_DOWN));
			if (lane < 0)
				return;
		}
		row++;
	}
}

/* Follow all lines of a node: its own lane, and those that the fork rows right below it open from that lane. */
static void trace_node(const struct lanes *lanes, size_t row, int lane, uint8_t *reached)
{
	if (!(lanes->rows[row].lanes[lane] & LANE_DOWN))
		return;
	trace(lanes, row + 1, lane, reached);
	for (size_t next = row + 1; next < lanes->count && lanes->rows[next].node == LANE_LINK; next++) {
		const uint8_t *cells = lanes->rows[next].lanes;
		int step = cells[lane] & LANE_RIGHT ? 1 : -1;

		if (!(cells[lane] & (LANE_LEFT | LANE_RIGHT)) ||
			(cells[lane] & LANE_LEFT && cells[lane] & LANE_RIGHT))
			continue;
		for (int i = lane + step; i >= 0 && i < LANES_MAX; i += step) {
			if (!(cells[i] & LANE_UP) && (cells[i] & LANE_DOWN))
				trace(lanes, next + 1, i, reached);
			if (!(cells[i] & (step > 0 ? LANE_RIGHT : LANE_LEFT)))
				break;
		}
	}
}

static int lane_of(const struct lane_row *row)
{
	int found = -1;

	for (int i = 0; i < LANES_MAX; i++)
		if (row->lanes[i] & LANE_NODE)
			found = found < 0 ? i : LANES_MAX;
	return found;
}

/* Do the lines of neighbouring cells and rows meet? */
static bool joined(const struct lanes *lanes)
{
	for (size_t row = 0; row < lanes->count; row++) {
		for (int i = 0; i < LANES_MAX; i++) {
			unsigned cell = lanes->rows[row].lanes[i];

			if (i + 1 < LANES_MAX &&
				!(cell & LANE_RIGHT) != !(lanes->rows[row].lanes[i + 1] & LANE_LEFT))
				return false;
			if (row + 1 < lanes->count &&
				!(cell & LANE_DOWN) != !(lanes->rows[row + 1].lanes[i] & LANE_UP))
				return false;
			if (row + 1 == lanes->count && (cell & LANE_DOWN))
				return false;
		}
	}
	return true;
}

static const char *check(const struct graph *graph, int cap)
{
	struct lanes lanes = { 0 };
	size_t *row_of = mem_array(graph->n + 1, sizeof *row_of);
	uint8_t *reached = mem_array(graph->n + 1, 1);
	const char *wrong = NULL;

	lanes_build(&lanes, graph->n, graph->start, graph->children, cap);
	if (lanes.width > cap + 1)
		wrong = "wider than the cap";
	if (!joined(&lanes))
		wrong = "lines don't meet";
	for (size_t row = 0; row < lanes.count; row++) {
		uint32_t node = lanes.rows[row].node;

		if (node == LANE_LINK)
			continue;
		if (row_of[node] != 0 || lane_of(&lanes.rows[row]) < 0 ||
			lane_of(&lanes.rows[row]) >= LANES_MAX)
			wrong = "a node isn't there once";
		row_of[node] = row + 1;
	}
	for (size_t i = 0; i < graph->n && !wrong; i++) {
		size_t drawn = 0, edges = graph->start[i + 1] - graph->start[i];
		size_t row = row_of[i] - 1;

		if (row_of[i] == 0) {
			wrong = "a node is missing";
			break;
		}
		memset(reached, 0, graph->n);
		trace_node(&lanes, row, lane_of(&lanes.rows[row]), reached);
		for (size_t k = 0; k < graph->n; k++) {
			if (reached[k] && !graph->edge[i * graph->n + k])
				wrong = "a line where no edge is";
			if (graph->edge[i * graph->n + k] && row_of[k] < row_of[i])
				wrong = "a child above its parent";
			drawn += reached[k];
		}
		if (drawn + lanes.rows[row].missing != edges)
			wrong = "an edge is neither drawn nor counted";
	}
	mem_free(row_of);
	mem_free(reached);
	lanes_free(&lanes);
	return wrong;
}

TEST random_graphs(uint64_t seed)
{
	struct rand_state rand;

	rand_seed(&rand, seed);
	for (int round = 0; round < 300; round++) {
		struct graph graph =
			random_graph(&rand, rand_below(&rand, 40), (unsigned)rand_below(&rand, 30));
		const char *wrong = check(&graph, 1 + (int)rand_below(&rand, LANES_MAX));

		graph_free(&graph);
		ASSERTm(wrong ? wrong : "", !wrong);
	}
	PASS();
}

TEST fits_when_there_is_room(void)
{
	struct rand_state rand;

	rand_seed(&rand, 77);
	for (int round = 0; round < 200; round++) {
		struct graph graph = random_graph(&rand, 12, 20);
		struct lanes lanes = { 0 };

		lanes_build(&lanes, graph.n, graph.start, graph.children, 31);
		for (size_t row = 0; row < lanes.count; row++)
			ASSERT_EQ(0, lanes.rows[row].missing);
		lanes_free(&lanes);
		graph_free(&graph);
	}
	PASS();
}

/* A master never sends a graph with a cycle; drawing one must only terminate. */
TEST cycle_ends(void)
{
	uint8_t *edge = mem_array(17, 1);
	struct graph graph;
	struct lanes lanes = { 0 };
	size_t nodes = 0;

	edge[0 * 4 + 1] = edge[1 * 4 + 2] = edge[2 * 4 + 1] = edge[2 * 4 + 3] = 1;
	graph = from_matrix(4, edge);
	lanes_build(&lanes, graph.n, graph.start, graph.children, 8);
	for (size_t row = 0; row < lanes.count; row++)
		nodes += lanes.rows[row].node != LANE_LINK;
	ASSERT_EQ(4, nodes);
	lanes_free(&lanes);
	graph_free(&graph);
	PASS();
}

static void add_job(struct tui_graph *graph, const char *name, const uint32_t *needs, uint32_t need_count)
{
	struct tui_job *job = &graph->jobs[graph->count];

	*job = (struct tui_job){ .job = 1 + graph->count, .need_count = need_count };
	job->name = arena_copy(&graph->arena, slice_str(name));
	job->needs =
		(uint32_t *)arena_copy(&graph->arena, slice_make(needs, need_count * sizeof *needs)).data;
	graph->count++;
}

static struct tui_graph two_stages(uint32_t width)
{
	struct tui_graph graph = { .run = 1, .jobs = mem_array(2 * width + 2, sizeof *graph.jobs) };
	char name[32];
	uint32_t root = 0;

	add_job(&graph, "start", NULL, 0);
	for (uint32_t i = 0; i < width; i++) {
		snprintf(name, sizeof name, "a[%u]", i);
		add_job(&graph, name, &root, 1);
	}
	for (uint32_t i = 0; i < width; i++) {
		uint32_t parent = 1 + i;

		snprintf(name, sizeof name, "b%u", i);
		add_job(&graph, name, &parent, 1);
	}
	return graph;
}

static void drop(struct tui_graph *graph, struct fold *fold)
{
	fold_free(fold);
	mem_free(graph->jobs);
	arena_free(&graph->arena);
}

TEST folds_more_than_eight(void)
{
	struct tui_graph graph = two_stages(FOLD_MIN);
	struct fold fold = { 0 };

	fold_build(&fold, &graph, NULL);
	ASSERT_EQ(1 + 2 * FOLD_MIN, fold.count);
	drop(&graph, &fold);
	/* Jobs outside the fan-outs don't count for folding. */
	graph = two_stages(FOLD_MIN);
	add_job(&graph, "other", &(uint32_t){ 0 }, 1);
	fold_build(&fold, &graph, NULL);
	ASSERT_EQ(2 + 2 * FOLD_MIN, fold.count);
	drop(&graph, &fold);
	graph = two_stages(FOLD_MIN + 1);
	fold_build(&fold, &graph, NULL);
	/* b[i] needs only a[i]; because all a[i] are alike, all b[i] are too. */
	ASSERT_EQ(3, fold.count);
	ASSERT_EQ(FOLD_MIN + 1, fold.nodes[1].member_count);
	ASSERT_EQ(2, fold.child_start[fold.count]);
	drop(&graph, &fold);
	PASS();
}

TEST unfolds_by_key(void)
{
	struct tui_graph graph = two_stages(20);
	struct fold fold = { 0 };
	struct map unfolded = { 0 };
	uint64_t second;

	fold_build(&fold, &graph, NULL);
	second = fold.nodes[2].group;
	map_put(&unfolded, fold.nodes[1].group, &fold);
	fold_build(&fold, &graph, &unfolded);
	ASSERT_EQ(22, fold.count);
	/* Unfolding one group doesn't change the key of the other. */
	ASSERT_EQ(second, fold.nodes[21].group);
	ASSERT(fold.nodes[21].folded && !fold.nodes[1].folded);
	ASSERT_EQ(40, fold.child_start[fold.count]);
	map_free(&unfolded);
	drop(&graph, &fold);
	PASS();
}

TEST each_of_many_jobs_has_its_parent_wherever_that_stands(void)
{
	struct tui_graph graph = { .run = 1, .jobs = mem_array(64, sizeof *graph.jobs) };
	struct fold fold = { 0 };
	char name[32];

	/* Each name has another stem, so nothing is folded. Parents come behind their children. */
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t parent = 10 + i;

		snprintf(name, sizeof name, "%c1", 'a' + (int)i);
		add_job(&graph, name, &parent, 1);
	}
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof name, "%c", 'a' + i);
		add_job(&graph, name, NULL, 0);
	}
	fold_build(&fold, &graph, NULL);
	ASSERT_EQ(20, fold.count);
	for (uint32_t i = 0; i < 10; i++) {
		const uint32_t *at = &fold.parent_start[i];

		ASSERT_EQ_FMT(1u, at[1] - at[0], "%u");
		ASSERT_EQ_FMT(10 + i, fold.parents[at[0]], "%u");
	}
	drop(&graph, &fold);
	PASS();
}

TEST other_parents_are_not_alike(void)
{
	struct tui_graph graph = { .run = 1, .jobs = mem_array(64, sizeof *graph.jobs) };
	struct fold fold = { 0 };
	char name[32];

	add_job(&graph, "x", NULL, 0);
	add_job(&graph, "y", NULL, 0);
	for (uint32_t i = 0; i < 30; i++) {
		uint32_t parent = i % 2;

		snprintf(name, sizeof name, "c%u", i);
		add_job(&graph, name, &parent, 1);
	}
	fold_build(&fold, &graph, NULL);
	ASSERT_EQ(4, fold.count);
	ASSERT_EQ(15, fold.nodes[2].member_count);
	drop(&graph, &fold);
	PASS();
}

static void reach(const uint32_t *start, const uint32_t *children, uint32_t node, uint8_t *reached)
{
	for (uint32_t k = start[node]; k < start[node + 1]; k++) {
		if (reached[children[k]])
			continue;
		reached[children[k]] = 1;
		reach(start, children, children[k], reached);
	}
}

/* Each node reaches the same nodes as in the whole graph, and no edge can be removed without changing that. */
TEST only_needless_edges_are_left_out(uint64_t seed)
{
	struct rand_state rand;
	char name[32];

	rand_seed(&rand, seed);
	for (int round = 0; round < 100; round++) {
		struct tui_graph graph = { .run = 1, .jobs = mem_array(40, sizeof *graph.jobs) };
		struct fold fold = { 0 };
		struct lane_graph lanes = { 0 };

		for (uint32_t i = 0; i < 30; i++) {
			uint32_t needs[30], count = 0;

			for (uint32_t k = 0; k < i; k++)
				if (rand_below(&rand, 5) == 0)
					needs[count++] = k;
			snprintf(name, sizeof name, "j%cx", 'A' + (int)i);
			add_job(&graph, name, needs, count);
		}
		fold_build(&fold, &graph, NULL);
		lane_graph_build(&lanes, &fold);
		ASSERT_EQ(30, lanes.count);
		for (uint32_t i = 0; i < 30; i++) {
			uint8_t all[30] = { 0 }, drawn[30] = { 0 };

			reach(fold.child_start, fold.children, i, all);
			reach(lanes.child_start, lanes.children, i, drawn);
			ASSERT_MEM_EQ(all, drawn, sizeof all);
			for (uint32_t k = lanes.child_start[i]; k < lanes.child_start[i + 1]; k++) {
				uint8_t others[30] = { 0 };

				for (uint32_t m = lanes.child_start[i]; m < lanes.child_start[i + 1]; m++)
					if (m != k)
						reach(lanes.child_start, lanes.children, lanes.children[m], others);
				ASSERT_FALSE(others[lanes.children[k]]);
			}
		}
		lane_graph_free(&lanes);
		drop(&graph, &fold);
	}
	PASS();
}

TEST jobs_of_an_unfolded_group_share_a_lane(void)
{
	struct tui_graph graph = two_stages(20);
	struct fold fold = { 0 };
	struct lane_graph lanes = { 0 };
	struct map unfolded = { 0 };

	fold_build(&fold, &graph, NULL);
	map_put(&unfolded, fold.nodes[1].group, &fold);
	fold_build(&fold, &graph, &unfolded);
	ASSERT_EQ(22, fold.count);
	lane_graph_build(&lanes, &fold);
	ASSERT_EQ(3, lanes.count);
	ASSERT_EQ(20, lanes.node_start[2] - lanes.node_start[1]);
	for (uint32_t i = 0; i < 20; i++)
		ASSERT_EQ(1 + i, lanes.nodes[lanes.node_start[1] + i]);
	ASSERT_EQ(2, lanes.child_start[3]);
	lane_graph_free(&lanes);
	map_free(&unfolded);
	drop(&graph, &fold);
	PASS();
}

TEST stems(void)
{
	ASSERT_EQ(6, fold_stem(slice_str("encode[7]")));
	ASSERT_EQ(3, fold_stem(slice_str("row12")));
	ASSERT_EQ(4, fold_stem(slice_str("done")));
	ASSERT_EQ(7, fold_stem(slice_str("enc[av]")));
	ASSERT_EQ(2, fold_stem(slice_str("[]")));
	ASSERT_EQ(0, fold_stem(slice_str("12")));
	PASS();
}

SUITE(lanes)
{
	for (uint64_t seed = 1; seed <= 10; seed++)
		RUN_TESTp(random_graphs, seed);
	RUN_TEST(fits_when_there_is_room);
	RUN_TEST(cycle_ends);
}

SUITE(folding)
{
	RUN_TEST(folds_more_than_eight);
	RUN_TEST(unfolds_by_key);
	RUN_TEST(each_of_many_jobs_has_its_parent_wherever_that_stands);
	RUN_TEST(other_parents_are_not_alike);
	for (uint64_t seed = 1; seed <= 5; seed++)
		RUN_TESTp(only_needless_edges_are_left_out, seed);
	RUN_TEST(jobs_of_an_unfolded_group_share_a_lane);
	RUN_TEST(stems);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lanes);
	RUN_SUITE(folding);
	GREATEST_MAIN_END();
}
