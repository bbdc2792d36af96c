# SPDX-License-Identifier: GPL-3.0-or-later
#
# The tests: what is built for them, and the targets that run them. Part of Makefile.am.

include $(top_srcdir)/tests/unit/files.mk
include $(top_srcdir)/tests/fuzz/files.mk
include $(top_srcdir)/tests/e2e/files.mk
include $(top_srcdir)/tests/lint/files.mk
include $(top_srcdir)/tests/sim/files.mk
include $(top_srcdir)/tests/bench/files.mk
include $(top_srcdir)/tests/fixtures/files.mk

# Upstream's greatest.h, where it was asked for, comes first and has the same guard as ours.
tests/unit/%.o: test_cppflags = $(GREATEST_CPPFLAGS) -I$(top_srcdir)/tests
tests/sim/liars/%.o: test_cppflags = $(GREATEST_CPPFLAGS) -I$(top_srcdir)/tests
# What they test is compiled as it is shipped; they themselves would take most of a build.
tests/unit/%.o: CFLAGS += -O0 -U_FORTIFY_SOURCE

if ENABLE_FUZZ
fuzz_main =
else
fuzz_main = tests/fuzz/replay.c
endif

check_PROGRAMS += $(unit_programs) $(fuzz_programs) $(sim_programs) tests/bench/bench_crowd
EXTRA_PROGRAMS = $(bench_programs) $(fuzz_tools)
CLEANFILES += $(EXTRA_PROGRAMS)

# Of the worker the simulator takes the ledger alone.
sim_libs = libworker.a $(core_libs)

# The core and the ledger with the points at which titan-sim-planted breaks them: tests/sim/planted.def.
EXTRA_LIBRARIES = libplanted.a
EXTRA_PROGRAMS += tests/sim/titan-sim-planted
CLEANFILES += libplanted.a tests/sim/titan-sim-planted
libplanted_a_SOURCES = $(core_sources) src/worker/ledger.c src/worker/ledger.h tests/sim/planted.c
libplanted_a_CPPFLAGS = $(AM_CPPFLAGS) -DTITAN_PLANTED='"tests/sim/planted.h"'
planted_libs = libplanted.a $(proto_libs)

unit_tests = $(unit_programs)
fuzz_tests = tests/fuzz/corpus.sh
generated_tests = tests/lint/generated.sh
# What runs under the sanitizers for addresses and undefined behaviour, besides check-sim.
share_tests = $(unit_tests) $(e2e_tests)
# What has threads; the keeper's clone(CLONE_VM) is nothing for that sanitizer, and it has none.
thread_tests = $(filter tests/unit/test_store_% tests/unit/test_master_% tests/unit/test_net_%,$(unit_tests))
EXTRA_DIST += tests/run-tests tests/cages.sh tests/run-suite tests/run-chaos tests/list-sources tests/generate tests/freeze tests/freeze-protocol tests/check-bare tests/cross-aarch64 tests/static-aarch64.sh tests/greatest.h tests/fuzz/corpus.sh tests/fuzz/long.sh \
	$(generated_tests) $(unit_other) $(e2e_tests) $(e2e_other) $(lint_tests) $(lint_other) \
	$(fuzz_other) $(sim_tests) $(sim_other) $(bench_other) $(fixtures) $(corpus_files)

# A program lies in the build directory, a script in the source directory.
test_paths = $(foreach test,$(1),$(if $(filter %.sh,$(test)),$(abs_top_srcdir)/$(test),$(test)))
run_tests = TITAN=$(abs_top_builddir)/titan TITAN_GEN=$(abs_top_builddir)/titan-gen \
	TITAN_SIM=$(abs_top_builddir)/tests/sim/titan-sim \
	TITAN_SIM_PLANTED=$(abs_top_builddir)/tests/sim/titan-sim-planted TITAN_LIARS=$(abs_top_builddir)/tests/sim/titan-liars \
	TITAN_SRCDIR=$(abs_top_srcdir) TITAN_BUILDDIR=$(abs_top_builddir) CC="$(CC)" \
	$(BASH_PROGRAM) $(top_srcdir)/tests/run-tests $(TEST_FLAGS)

check-local:
	@$(run_tests) $(call test_paths,$(foreach part,$(CHECK_PARTS),$($(part)_tests)))

# All that a test may need, and nothing run: for those who build first and test then.
programs: all $(check_PROGRAMS)

check-unit: all $(unit_programs)
	@$(run_tests) $(call test_paths,$(unit_tests))
check-e2e: all
	@$(run_tests) $(call test_paths,$(e2e_tests))
check-sim: all $(sim_programs)
	@$(run_tests) $(call test_paths,$(filter-out %/planted.sh,$(sim_tests)))
check-planted: all $(sim_programs) tests/sim/titan-sim-planted
	@$(run_tests) $(call test_paths,tests/sim/schedules.sh tests/sim/planted.sh)
check-fuzz: all $(fuzz_programs)
	@$(run_tests) $(call test_paths,$(fuzz_tests))
check-lint: all
	@$(run_tests) $(call test_paths,$(lint_tests))
check-generated: all
	@$(run_tests) $(call test_paths,$(generated_tests))
check-share: all $(unit_programs)
	@CHAOS_CUTS=300 $(run_tests) $(call test_paths,$(share_tests))

check-threads: all $(thread_tests)
	@CHAOS_CUTS=300 $(run_tests) $(call test_paths,$(thread_tests))

# The same tests as in check, with the amounts that were promised, in under an hour on two cores; a table at the end.
# make chaos ROWS="kills power": those alone.
chaos_programs = tests/unit/test_store_fault tests/unit/test_store_memory tests/unit/test_store_power \
	tests/unit/test_worker_power tests/unit/test_master_power tests/bench/bench_crowd
chaos: all $(chaos_programs)
	@TITAN=$(abs_top_builddir)/titan TITAN_SRCDIR=$(abs_top_srcdir) TITAN_BUILDDIR=$(abs_top_builddir) CC="$(CC)" \
		$(BASH_PROGRAM) $(abs_top_srcdir)/tests/run-chaos $(ROWS)

# Unit tests under memcheck, which sees what is read before it was written: those named, or one of each part.
VALGRIND_TESTS = tests/unit/test_base_buf tests/unit/test_core_life tests/unit/test_proto_codec tests/unit/test_store_rows
valgrind: programs
	@for test in $(VALGRIND_TESTS); do echo "$$test"; \
		valgrind -q --error-exitcode=9 "./$$test" >/dev/null || exit 1; done

# Each fuzz target for so long, with clang's libFuzzer.
FUZZ_SECONDS = 300
fuzz-long:
	@$(BASH_PROGRAM) $(abs_top_srcdir)/tests/fuzz/long.sh $(FUZZ_SECONDS) $(TARGETS)

# Schedules from a seed: make sim SEED=1 SCHEDULES=100000 MOVES=1 (how often each move was made)
SEED = 1
SCHEDULES = 20000
sim: tests/sim/titan-sim
	@tests/sim/titan-sim --seed $(SEED) --schedules $(SCHEDULES) $(if $(MOVES),--moves)

# A core among workers that lie, from a seed: make liars SEED=1 RUNS=10000
RUNS = 2000
STEPS = 300
liars: tests/sim/titan-liars
	@tests/sim/titan-liars --seed $(SEED) --runs $(RUNS) --steps $(STEPS)

# What one trusts a release on: make campaign MINUTES=60 SEED=1 LEAST=1000, on all cores.
MINUTES = 60
LEAST = 1000
campaign: tests/sim/titan-sim
	@$(BASH_PROGRAM) $(top_srcdir)/tests/sim/campaign tests/sim/titan-sim $(MINUTES) $(SEED) $(LEAST)

# The same for networks: make campaign-networks COUNT=500 SEED=1, schedules of failing networks between namespaces.
campaign-networks: COUNT = 500
campaign-networks: all
	@CHAOS_NETWORKS=$(COUNT) CHAOS_SEED=$(SEED) CHAOS_CONVERGE_MS=2400 TEST_TIMEOUT=$$(($(COUNT) * 30 + 600)) \
		$(run_tests) $(call test_paths,tests/e2e/chaos-networks.sh)

# Are the guards of the core guarded by tests? make mutants COUNT=200 SEED=1; COUNT=0 takes all.
COUNT = 200
mutants: all
	@python3 $(top_srcdir)/tests/sim/mutants.py $(abs_top_srcdir) $(abs_top_builddir) --count $(COUNT) --seed $(SEED)

# Numbers for people: nothing here passes or fails.
# BENCH_FLAGS: -n JOBS, -s SECONDS, -o FILE for bench-compare OLD=FILE NEW=FILE. BENCH_PARTS: some of the parts that bench.sh names.
bench: all $(bench_programs)
	@$(BASH_PROGRAM) $(top_srcdir)/tests/bench/bench.sh $(BENCH_FLAGS) . $(BENCH_PARTS)
bench-compare:
	@$(BASH_PROGRAM) $(top_srcdir)/tests/bench/bench-compare.sh $(OLD) $(NEW)

# The parts alone: codec, core, keeper, store, screens.
bench-core: tests/bench/bench_core
	@tests/bench/bench_core
bench-parts: $(bench_programs)
	@for part in codec core keeper store tui; do echo "== $$part"; tests/bench/bench_$$part || exit 1; done

# A bare Debian 12 made with debootstrap runs both commands of the README. By hand, as root.
check-bare:
	@$(BASH_PROGRAM) $(abs_top_srcdir)/tests/check-bare

# The suite in the tarball is the unit tests alone: the rest needs the tree or a machine of its own.
AM_DISTCHECK_CONFIGURE_FLAGS = CHECK_PARTS=unit

.PHONY: campaign-networks programs check-unit check-e2e check-sim check-planted check-fuzz check-lint check-generated check-share check-threads chaos valgrind fuzz-long sim liars campaign mutants check-bare bench bench-compare bench-core bench-parts
