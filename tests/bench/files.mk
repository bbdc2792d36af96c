# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

bench_programs = \
	tests/bench/bench_beanstalk \
	tests/bench/bench_codec \
	tests/bench/bench_core \
	tests/bench/bench_crowd \
	tests/bench/bench_keeper \
	tests/bench/bench_kv \
	tests/bench/bench_limits \
	tests/bench/bench_noop \
	tests/bench/bench_store \
	tests/bench/bench_submit \
	tests/bench/bench_tls \
	tests/bench/bench_tui

tests_bench_bench_beanstalk_SOURCES = tests/bench/bench_beanstalk.c
tests_bench_bench_beanstalk_LDADD = $(all_libs)

tests_bench_bench_codec_SOURCES = tests/bench/bench_codec.c
tests_bench_bench_codec_LDADD = $(all_libs)

tests_bench_bench_core_SOURCES = tests/bench/bench_core.c
tests_bench_bench_core_LDADD = $(all_libs)

tests_bench_bench_crowd_SOURCES = tests/bench/bench_crowd.c
tests_bench_bench_crowd_LDADD = $(all_libs)

tests_bench_bench_keeper_SOURCES = tests/bench/bench_keeper.c
tests_bench_bench_keeper_LDADD = $(all_libs)

tests_bench_bench_kv_SOURCES = tests/bench/bench_kv.c
tests_bench_bench_kv_LDADD = $(all_libs)

tests_bench_bench_limits_SOURCES = tests/bench/bench_limits.c
tests_bench_bench_limits_LDADD = $(all_libs)

tests_bench_bench_noop_SOURCES = tests/bench/bench_noop.c
tests_bench_bench_noop_LDADD = $(all_libs)

tests_bench_bench_store_SOURCES = tests/bench/bench_store.c
tests_bench_bench_store_LDADD = $(all_libs)

tests_bench_bench_submit_SOURCES = tests/bench/bench_submit.c
tests_bench_bench_submit_LDADD = $(all_libs)

tests_bench_bench_tls_SOURCES = tests/bench/bench_tls.c
tests_bench_bench_tls_LDADD = $(all_libs)

tests_bench_bench_tui_SOURCES = tests/bench/bench_tui.c
tests_bench_bench_tui_LDADD = $(all_libs)

bench_other = \
	tests/bench/bench-compare.sh \
	tests/bench/bench.sh \
	tests/bench/bench_commands.py \
	tests/bench/profile.sh
