/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan metrics: for people, as JSON, as tab-separated values, or as text for Prometheus. */
#include <inttypes.h>
#include <stdio.h>

#include "base/histogram.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "cli/show/wrap.h"
#include "proto/metrics.h"

#define WHAT_COLUMN 42                   /* where the text about a metric begins */

/* Copy a histogram into as many buckets as this program knows. Missing buckets are 0; surplus ones go into the last. */
static void buckets_of(const struct rec_metric_row *row, uint64_t out[HISTOGRAM_BUCKETS])
{
	memset(out, 0, HISTOGRAM_BUCKETS * sizeof(*out));
	for (size_t i = 0; i < row->buckets.n; i++)
		out[i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1] += row->buckets.at[i];
}

static void put_span(struct buf *out, uint64_t us)
{
	if (us < 1000)
		buf_addf(out, "%" PRIu64 " us", us);
	else if (us < 1000000)
		buf_addf(out, "%.1f ms", (double)us / 1e3);
	else
		buf_addf(out, "%.1f s", (double)us / 1e6);
}

/* ---- the output formats ---- */

static void put_human(const struct look *look, const struct metric_info *info, const struct rec_metric_row *row, struct buf *out)
{
	uint64_t buckets[HISTOGRAM_BUCKETS];
	char name[96];
	struct buf value = { 0 }, what = { 0 };

	/* Leave out states that no job has. */
	if (row->label.len > 0 && row->value == 0)
		return;
	snprintf(name, sizeof(name), "%s%s%.*s", info->name, row->label.len ? " " : "", (int)row->label.len,
		 row->label.len ? (const char *)row->label.data : "");
	buf_add_str(&what, info->what);
	if (info->kind == METRIC_IS_HISTOGRAM)
		buckets_of(row, buckets);
	buf_addf(&value, "%" PRIu64, info->kind == METRIC_IS_HISTOGRAM ? histogram_count(buckets) : row->value);
	if (info->kind == METRIC_IS_HISTOGRAM && histogram_count(buckets) > 0) {
		buf_add_str(&what, ": half under ");
		put_span(&what, histogram_below_us(buckets, 500));
		buf_add_str(&what, ", 99 % under ");
		put_span(&what, histogram_below_us(buckets, 990));
		buf_add_str(&what, ", all under ");
		put_span(&what, histogram_below_us(buckets, 1000));
	}
	buf_addf(out, "%-24s %14s   ", name, buf_cstr(&value));
	wrap_add(look, buf_slice(&what), WHAT_COLUMN, WHAT_COLUMN, out);
	buf_add_byte(out, '\n');
	buf_free(&value);
	buf_free(&what);
}

static void put_plain(const struct metric_info *info, const struct rec_metric_row *row, struct buf *out)
{
	uint64_t buckets[HISTOGRAM_BUCKETS];

	buf_addf(out, "%s\t%.*s\t", info->name, (int)row->label.len, row->label.len ? (const char *)row->label.data : "");
	if (info->kind != METRIC_IS_HISTOGRAM) {
		buf_addf(out, "%" PRIu64 "\n", row->value);
		return;
	}
	buckets_of(row, buckets);
	buf_addf(out, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", histogram_count(buckets),
		 histogram_below_us(buckets, 500), histogram_below_us(buckets, 990), histogram_below_us(buckets, 1000));
}

/* Write a metric under its name. A metric with a value for each state becomes an object. */
static void put_json(struct json *json, const struct metric_info *info, const struct rec_metric_row *row, bool first,
		     bool last)
{
	uint64_t buckets[HISTOGRAM_BUCKETS];
	char label[64];

	if (first)
		json_key(json, info->name);
	if (info->kind == METRIC_IS_HISTOGRAM) {
		buckets_of(row, buckets);
		json_object(json);
		json_key(json, "count");
		json_u64(json, histogram_count(buckets));
		json_key(json, "sum_us");
		json_u64(json, row->sum_ns / 1000);
		json_key(json, "p50_us");
		json_u64(json, histogram_below_us(buckets, 500));
		json_key(json, "p99_us");
		json_u64(json, histogram_below_us(buckets, 990));
		json_key(json, "max_us");
		json_u64(json, histogram_below_us(buckets, 1000));
		json_end(json);
		return;
	}
	if (row->label.len > 0) {
		snprintf(label, sizeof(label), "%.*s", (int)row->label.len, (const char *)row->label.data);
		if (first)
			json_object(json);
		json_key(json, label);
	}
	json_u64(json, row->value);
	if (row->label.len > 0 && last)
		json_end(json);
}

static void put_prometheus(const struct metric_info *info, const struct rec_metric_row *row, bool first, struct buf *out)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const char *suffix = info->kind == METRIC_IS_COUNTER ? "_total" : info->kind == METRIC_IS_HISTOGRAM ? "_seconds" : "";
	uint64_t buckets[HISTOGRAM_BUCKETS], seen = 0;

	if (first)
		buf_addf(out, "# HELP titan_%s%s %s\n# TYPE titan_%s%s %s\n", info->name, suffix, info->what, info->name,
			 suffix, types[info->kind]);
	if (info->kind != METRIC_IS_HISTOGRAM) {
		buf_addf(out, "titan_%s%s", info->name, suffix);
		if (row->label.len > 0)
			buf_addf(out, "{state=\"%.*s\"}", (int)row->label.len, (const char *)row->label.data);
		buf_addf(out, " %" PRIu64 "\n", row->value);
		return;
	}
	buckets_of(row, buckets);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		seen += buckets[i];
		buf_addf(out, "titan_%s%s_bucket{le=\"%g\"} %" PRIu64 "\n", info->name, suffix,
			 (double)(UINT64_C(1) << i) / 1e6, seen);
	}
	seen += buckets[HISTOGRAM_BUCKETS - 1];
	buf_addf(out, "titan_%s%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", info->name, suffix, seen);
	buf_addf(out, "titan_%s%s_sum %.6f\ntitan_%s%s_count %" PRIu64 "\n", info->name, suffix, (double)row->sum_ns / 1e9,
		 info->name, suffix, seen);
}

static void put_all(struct cli *cli, const struct msg_snapshot *answer, struct buf *out)
{
	bool prometheus = option_given(cli->invocation, OPT_metrics_prometheus);
	struct json json;
	uint64_t before = METRIC_NONE;

	if (cli->out.style == STYLE_JSON) {
		json_begin(&json, out);
		json_object(&json);
	}
	for (size_t i = 0; i < answer->metrics.n; i++) {
		const struct rec_metric_row *row = &answer->metrics.at[i];
		const struct metric_info *info = metric_info(row->metric);

		if (!info)
			continue;        /* a metric of a newer master */
		if (prometheus)
			put_prometheus(info, row, row->metric != before, out);
		else if (cli->out.style == STYLE_JSON)
			put_json(&json, info, row, row->metric != before,
				 i + 1 == answer->metrics.n || row[1].metric != row->metric);
		else if (cli->out.style == STYLE_PLAIN)
			put_plain(info, row, out);
		else
			put_human(&cli->out, info, row, out);
		before = row->metric;
	}
	if (cli->out.style == STYLE_JSON) {
		json_end(&json);
		buf_add_byte(out, '\n');
	}
}

int cmd_metrics(struct cli *cli)
{
	struct msg_snapshot answer;
	struct buf out = { 0 };

	if (cli_connect(cli) != ERR_NONE ||
	    cli_query(cli, (struct msg_query){ .what = QUERY_METRICS }, &cli->arena, &answer) != ERR_NONE)
		return cli_fail(cli);
	put_all(cli, &answer, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}
