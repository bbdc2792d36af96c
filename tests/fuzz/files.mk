# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

fuzz_programs = \
	tests/fuzz/fuzz_cron \
	tests/fuzz/fuzz_dagline \
	tests/fuzz/fuzz_escape \
	tests/fuzz/fuzz_expr \
	tests/fuzz/fuzz_frame \
	tests/fuzz/fuzz_glob \
	tests/fuzz/fuzz_handshake \
	tests/fuzz/fuzz_input \
	tests/fuzz/fuzz_key \
	tests/fuzz/fuzz_logpack \
	tests/fuzz/fuzz_manifest \
	tests/fuzz/fuzz_pipeline \
	tests/fuzz/fuzz_substitution \
	tests/fuzz/fuzz_where

tests_fuzz_fuzz_cron_SOURCES = tests/fuzz/fuzz_cron.c $(fuzz_main)
tests_fuzz_fuzz_cron_LDADD = $(all_libs)
tests_fuzz_fuzz_cron_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_dagline_SOURCES = tests/fuzz/fuzz_dagline.c $(fuzz_main)
tests_fuzz_fuzz_dagline_LDADD = $(all_libs)
tests_fuzz_fuzz_dagline_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_escape_SOURCES = tests/fuzz/fuzz_escape.c $(fuzz_main)
tests_fuzz_fuzz_escape_LDADD = $(all_libs)
tests_fuzz_fuzz_escape_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_expr_SOURCES = tests/fuzz/fuzz_expr.c $(fuzz_main)
tests_fuzz_fuzz_expr_LDADD = $(all_libs)
tests_fuzz_fuzz_expr_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_frame_SOURCES = tests/fuzz/fuzz_frame.c $(fuzz_main)
tests_fuzz_fuzz_frame_LDADD = $(all_libs)
tests_fuzz_fuzz_frame_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_glob_SOURCES = tests/fuzz/fuzz_glob.c $(fuzz_main)
tests_fuzz_fuzz_glob_LDADD = $(all_libs)
tests_fuzz_fuzz_glob_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_handshake_SOURCES = tests/fuzz/fuzz_handshake.c $(fuzz_main)
tests_fuzz_fuzz_handshake_LDADD = $(all_libs)
tests_fuzz_fuzz_handshake_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_input_SOURCES = tests/fuzz/fuzz_input.c $(fuzz_main)
tests_fuzz_fuzz_input_LDADD = $(all_libs)
tests_fuzz_fuzz_input_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_key_SOURCES = tests/fuzz/fuzz_key.c $(fuzz_main)
tests_fuzz_fuzz_key_LDADD = $(all_libs)
tests_fuzz_fuzz_key_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_logpack_SOURCES = tests/fuzz/fuzz_logpack.c $(fuzz_main)
tests_fuzz_fuzz_logpack_LDADD = $(all_libs)
tests_fuzz_fuzz_logpack_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_manifest_SOURCES = tests/fuzz/fuzz_manifest.c $(fuzz_main)
tests_fuzz_fuzz_manifest_LDADD = $(all_libs)
tests_fuzz_fuzz_manifest_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_pipeline_SOURCES = tests/fuzz/fuzz_pipeline.c $(fuzz_main)
tests_fuzz_fuzz_pipeline_LDADD = $(all_libs)
tests_fuzz_fuzz_pipeline_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_substitution_SOURCES = tests/fuzz/fuzz_substitution.c $(fuzz_main)
tests_fuzz_fuzz_substitution_LDADD = $(all_libs)
tests_fuzz_fuzz_substitution_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

tests_fuzz_fuzz_where_SOURCES = tests/fuzz/fuzz_where.c $(fuzz_main)
tests_fuzz_fuzz_where_LDADD = $(all_libs)
tests_fuzz_fuzz_where_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

fuzz_tools = \
	tests/fuzz/make_corpus

tests_fuzz_make_corpus_SOURCES = tests/fuzz/make_corpus.c
tests_fuzz_make_corpus_LDADD = $(all_libs)

fuzz_other = \
	tests/fuzz/old_run.h

corpus_files = \
	tests/fuzz/corpus
