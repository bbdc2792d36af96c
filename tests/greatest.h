/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unit tests: the documented interface of greatest (TEST, SUITE, RUN_TEST, ASSERT_*, PASS, FAIL, SKIP,
 * GREATEST_MAIN_*), written anew for this tree. A test returns how it went; an assertion that fails
 * returns from it. One program has one GREATEST_MAIN_DEFS; suites may live in other files. The program
 * exits with 0 only if nothing failed, and its last line is "Pass: N, fail: N, skip: N."
 * It uses nothing of the code under test. A name is printed before its test runs, so a crash or a time-out
 * leaves the name of the running test as the last line of the output.
 */
#ifndef GREATEST_H
#define GREATEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum greatest_test_res {
	GREATEST_TEST_RES_PASS = 0,
	GREATEST_TEST_RES_FAIL = -1,
	GREATEST_TEST_RES_SKIP = 1
};

typedef void greatest_suite_cb(void);
typedef void greatest_setup_cb(void *data);
typedef void greatest_teardown_cb(void *data);
typedef const char *greatest_enum_str_fun(int value);

struct greatest_counts {
	unsigned passed;
	unsigned failed;
	unsigned skipped;
};

struct greatest_run_info {
	struct greatest_counts suite;
	struct greatest_counts total;
	unsigned assertions;
	unsigned column;                 /* dots on this line */
	clock_t begin;
	const char *program;
	const char *test_filter;
	const char *test_exclude;
	const char *suite_filter;
	int verbosity;
	int list_only;
	int first_fail;
	int exact;
	int stopped;
	char name_suffix[64];
	char name_buf[256];
	greatest_setup_cb *setup;
	void *setup_data;
	greatest_teardown_cb *teardown;
	void *teardown_data;
	const char *fail_file;
	unsigned fail_line;
	const char *msg;
};

extern struct greatest_run_info greatest_info;

#define GREATEST_MAIN_DEFS() struct greatest_run_info greatest_info

static inline void greatest_usage(const char *program)
{
	printf("Usage: %s [-hlfve] [-s SUITE] [-t TEST] [-x EXCLUDE]\n"
	       "  -h, --help  print this help\n"
	       "  -l          list suites and tests, then exit\n"
	       "  -f          stop after the first failure\n"
	       "  -v          verbose: the name of each test (always, where the output is no terminal)\n"
	       "  -s SUITE    only suites whose name contains SUITE\n"
	       "  -t TEST     only tests whose name contains TEST\n"
	       "  -x EXCLUDE  no tests whose name contains EXCLUDE\n"
	       "  -e          names given must match exactly\n", program);
}

static inline const char *greatest_option_value(int argc, char **argv, int *at)
{
	if (*at + 1 >= argc) {
		greatest_usage(argv[0]);
		exit(EXIT_FAILURE);
	}
	return argv[++*at];
}

static inline void greatest_parse_options(int argc, char **argv)
{
	struct greatest_run_info *info = &greatest_info;

	memset(info, 0, sizeof(*info));
	info->program = argc > 0 ? argv[0] : "test";
	info->begin = clock();
	info->verbosity = !isatty(STDOUT_FILENO);
	for (int at = 1; at < argc; at++) {
		const char *option = argv[at];

		if (!strcmp(option, "-h") || !strcmp(option, "--help")) {
			greatest_usage(argv[0]);
			exit(EXIT_SUCCESS);
		}
		if (!strcmp(option, "--"))
			return;
		if (option[0] != '-' || option[1] == '\0') {
			fprintf(stderr, "%s: unknown argument %s\n", info->program, option);
			greatest_usage(argv[0]);
			exit(EXIT_FAILURE);
		}
		for (const char *letter = option + 1; *letter; letter++) {
			switch (*letter) {
			case 'l': info->list_only = 1; break;
			case 'f': info->first_fail = 1; break;
			case 'v': info->verbosity++; break;
			case 'e': info->exact = 1; break;
			case 's': info->suite_filter = greatest_option_value(argc, argv, &at); break;
			case 't': info->test_filter = greatest_option_value(argc, argv, &at); break;
			case 'x': info->test_exclude = greatest_option_value(argc, argv, &at); break;
			default:
				fprintf(stderr, "%s: unknown option -%c\n", info->program, *letter);
				greatest_usage(argv[0]);
				exit(EXIT_FAILURE);
			}
		}
	}
}

static inline int greatest_name_matches(const char *name, const char *filter, int without_filter)
{
	if (!filter)
		return without_filter;
	return greatest_info.exact ? !strcmp(name, filter) : strstr(name, filter) != NULL;
}

/* The name as selected and shown: the function's, and the suffix set for the next test. */
static inline const char *greatest_full_name(const char *name)
{
	struct greatest_run_info *info = &greatest_info;

	snprintf(info->name_buf, sizeof(info->name_buf), "%.180s%s%.63s", name,
		 info->name_suffix[0] ? "_" : "", info->name_suffix);
	info->name_suffix[0] = '\0';
	return info->name_buf;
}

static inline int greatest_test_pre(const char *name)
{
	struct greatest_run_info *info = &greatest_info;
	const char *full = greatest_full_name(name);

	if (info->stopped || !greatest_name_matches(full, info->test_filter, 1) ||
	    greatest_name_matches(full, info->test_exclude, 0))
		return 0;
	if (info->list_only) {
		printf("  %s\n", full);
		return 0;
	}
	info->msg = NULL;
	info->fail_file = NULL;
	if (info->verbosity) {
		printf("%s ...", full);
		fflush(stdout);
	}
	if (info->setup)
		info->setup(info->setup_data);
	return 1;
}

static inline void greatest_dot(char letter)
{
	putchar(letter);
	if (++greatest_info.column % 80 == 0)
		putchar('\n');
}

static inline void greatest_test_post(enum greatest_test_res result)
{
	struct greatest_run_info *info = &greatest_info;
	const char *name = info->name_buf;
	const char *msg = info->msg ? info->msg : "";

	if (info->teardown)
		info->teardown(info->teardown_data);
	if (result == GREATEST_TEST_RES_FAIL) {
		info->suite.failed++;
		info->stopped = info->first_fail;
		printf("\nFAIL %s: %s (%s:%u)\n", name, msg, info->fail_file ? info->fail_file : "?",
		       info->fail_line);
		info->column = 0;
	} else if (result == GREATEST_TEST_RES_SKIP) {
		info->suite.skipped++;
		if (info->verbosity || info->msg)
			printf("%sSKIP %s: %s\n", info->verbosity ? "\n" : "", name, msg);
		else
			greatest_dot('s');
	} else {
		info->suite.passed++;
		if (info->verbosity)
			printf(" pass%s%s\n", info->msg ? ": " : "", msg);
		else
			greatest_dot('.');
	}
	fflush(stdout);
}

/* Counts go from the suite to the total. Tests that stand outside of any suite are counted the same way. */
static inline void greatest_close_suite(const char *name)
{
	struct greatest_run_info *info = &greatest_info;
	struct greatest_counts *suite = &info->suite;
	unsigned tests = suite->passed + suite->failed + suite->skipped;

	if (tests > 0 && name)
		printf("%s%u tests - %u passed, %u failed, %u skipped\n",
		       info->verbosity || info->column % 80 == 0 ? "" : "\n",
		       tests, suite->passed, suite->failed, suite->skipped);
	info->total.passed += suite->passed;
	info->total.failed += suite->failed;
	info->total.skipped += suite->skipped;
	memset(suite, 0, sizeof(*suite));
	info->column = 0;
}

static inline void greatest_run_suite(greatest_suite_cb *suite_cb, const char *name)
{
	struct greatest_run_info *info = &greatest_info;

	greatest_close_suite(NULL);
	if (info->stopped || !greatest_name_matches(name, info->suite_filter, 1))
		return;
	printf("\n* Suite %s:\n", name);
	suite_cb();
	greatest_close_suite(name);
	info->setup = NULL;
	info->setup_data = NULL;
	info->teardown = NULL;
	info->teardown_data = NULL;
}

static inline void greatest_print_report(void)
{
	struct greatest_run_info *info = &greatest_info;
	struct greatest_counts *total = &info->total;

	greatest_close_suite(NULL);
	if (info->list_only)
		return;
	printf("\nTotal: %u tests (%.3f sec), %u assertions\n",
	       total->passed + total->failed + total->skipped,
	       (double)(clock() - info->begin) / CLOCKS_PER_SEC, info->assertions);
	printf("Pass: %u, fail: %u, skip: %u.\n", total->passed, total->failed, total->skipped);
}

static inline int greatest_all_passed(void)
{
	return greatest_info.total.failed == 0;
}

static inline void greatest_set_test_suffix(const char *suffix)
{
	snprintf(greatest_info.name_suffix, sizeof(greatest_info.name_suffix), "%s", suffix);
}

static inline enum greatest_test_res greatest_end(enum greatest_test_res result, const char *file,
						  unsigned line, const char *msg)
{
	greatest_info.fail_file = file;
	greatest_info.fail_line = line;
	greatest_info.msg = msg;
	return result;
}

static inline int greatest_str_equal(const char *expected, const char *got)
{
	int equal = expected && got ? !strcmp(expected, got) : expected == got;

	if (!equal)
		printf("\nExpected: \"%s\"\n     Got: \"%s\"\n", expected ? expected : "(null)",
		       got ? got : "(null)");
	return equal;
}

static inline int greatest_strn_equal(const char *expected, const char *got, size_t size)
{
	int equal = expected && got ? !strncmp(expected, got, size) : expected == got;

	if (!equal)
		printf("\nExpected: \"%.*s\"\n     Got: \"%.*s\"\n", (int)size, expected ? expected : "(null)",
		       (int)size, got ? got : "(null)");
	return equal;
}

static inline int greatest_mem_equal(const void *expected, const void *got, size_t size)
{
	const unsigned char *want = expected, *have = got;
	size_t at = 0;

	while (at < size && want[at] == have[at])
		at++;
	if (at == size)
		return 1;
	printf("\nBytes differ at %zu of %zu: expected %02x, got %02x\n", at, size, want[at], have[at]);
	return 0;
}

#define GREATEST_MAIN_BEGIN() greatest_parse_options(argc, argv)
#define GREATEST_MAIN_END() \
	do { \
		greatest_print_report(); \
		return greatest_all_passed() ? EXIT_SUCCESS : EXIT_FAILURE; \
	} while (0)

#define TEST static enum greatest_test_res
#define SUITE(NAME) void NAME(void); void NAME(void)
#define SUITE_EXTERN(NAME) void NAME(void)
#define RUN_SUITE(NAME) greatest_run_suite(NAME, #NAME)

#define RUN_TEST(NAME) \
	do { \
		if (greatest_test_pre(#NAME)) \
			greatest_test_post(NAME()); \
	} while (0)
#define RUN_TEST1(NAME, ENV) \
	do { \
		if (greatest_test_pre(#NAME)) \
			greatest_test_post(NAME(ENV)); \
	} while (0)
#define RUN_TESTp(NAME, ...) \
	do { \
		if (greatest_test_pre(#NAME)) \
			greatest_test_post(NAME(__VA_ARGS__)); \
	} while (0)

#define SET_SETUP(CB, DATA) (greatest_info.setup = (CB), greatest_info.setup_data = (DATA))
#define SET_TEARDOWN(CB, DATA) (greatest_info.teardown = (CB), greatest_info.teardown_data = (DATA))

#define PASSm(MSG) return greatest_end(GREATEST_TEST_RES_PASS, __FILE__, __LINE__, MSG)
#define FAILm(MSG) return greatest_end(GREATEST_TEST_RES_FAIL, __FILE__, __LINE__, MSG)
#define SKIPm(MSG) return greatest_end(GREATEST_TEST_RES_SKIP, __FILE__, __LINE__, MSG)
#define PASS() PASSm(NULL)
#define FAIL() FAILm("FAIL")
#define SKIP() SKIPm(NULL)

#define CHECK_CALL(CALL) \
	do { \
		enum greatest_test_res greatest_result = (CALL); \
		if (greatest_result != GREATEST_TEST_RES_PASS) \
			return greatest_result; \
	} while (0)

#define ASSERTm(MSG, COND) \
	do { \
		greatest_info.assertions++; \
		if (!(COND)) \
			FAILm(MSG); \
	} while (0)
#define ASSERT_FALSEm(MSG, COND)    ASSERTm(MSG, !(COND))
#define ASSERT_EQm(MSG, EXP, GOT)   ASSERTm(MSG, (EXP) == (GOT))
#define ASSERT_NEQm(MSG, EXP, GOT)  ASSERTm(MSG, (EXP) != (GOT))
#define ASSERT_GTm(MSG, EXP, GOT)   ASSERTm(MSG, (EXP) > (GOT))
#define ASSERT_GTEm(MSG, EXP, GOT)  ASSERTm(MSG, (EXP) >= (GOT))
#define ASSERT_LTm(MSG, EXP, GOT)   ASSERTm(MSG, (EXP) < (GOT))
#define ASSERT_LTEm(MSG, EXP, GOT)  ASSERTm(MSG, (EXP) <= (GOT))
#define ASSERT_STR_EQm(MSG, EXP, GOT)        ASSERTm(MSG, greatest_str_equal(EXP, GOT))
#define ASSERT_STRN_EQm(MSG, EXP, GOT, SIZE) ASSERTm(MSG, greatest_strn_equal(EXP, GOT, SIZE))
#define ASSERT_MEM_EQm(MSG, EXP, GOT, SIZE)  ASSERTm(MSG, greatest_mem_equal(EXP, GOT, SIZE))

#define ASSERT_EQ_FMTm(MSG, EXP, GOT, FMT) \
	do { \
		__auto_type greatest_exp = (EXP); \
		__auto_type greatest_got = (GOT); \
		_Pragma("GCC diagnostic push") \
		_Pragma("GCC diagnostic ignored \"-Wsign-compare\"") \
		int greatest_equal = greatest_exp == greatest_got; \
		_Pragma("GCC diagnostic pop") \
		greatest_info.assertions++; \
		if (!greatest_equal) { \
			printf("\nExpected: " FMT "\n     Got: " FMT "\n", greatest_exp, greatest_got); \
			FAILm(MSG); \
		} \
	} while (0)
#define ASSERT_IN_RANGEm(MSG, EXP, GOT, TOL) \
	do { \
		double greatest_exp = (EXP), greatest_got = (GOT), greatest_tol = (TOL); \
		double greatest_off = greatest_got - greatest_exp; \
		greatest_info.assertions++; \
		if (greatest_off < -greatest_tol || greatest_off > greatest_tol) { \
			printf("\nExpected: %g +/- %g\n     Got: %g\n", greatest_exp, greatest_tol, \
			       greatest_got); \
			FAILm(MSG); \
		} \
	} while (0)
#define ASSERT_ENUM_EQm(MSG, EXP, GOT, ENUM_STR) \
	do { \
		int greatest_exp = (int)(EXP), greatest_got = (int)(GOT); \
		_Pragma("GCC diagnostic push") \
		_Pragma("GCC diagnostic ignored \"-Wsign-compare\"") \
		int greatest_equal = greatest_exp == greatest_got; \
		_Pragma("GCC diagnostic pop") \
		greatest_info.assertions++; \
		if (!greatest_equal) { \
			printf("\nExpected: %s", ENUM_STR(greatest_exp)); \
			printf("\n     Got: %s\n", ENUM_STR(greatest_got)); \
			FAILm(MSG); \
		} \
	} while (0)

#define ASSERT(COND)                ASSERTm(#COND, COND)
#define ASSERT_FALSE(COND)          ASSERT_FALSEm("!(" #COND ")", COND)
#define ASSERT_EQ(EXP, GOT)         ASSERT_EQm(#EXP " == " #GOT, EXP, GOT)
#define ASSERT_NEQ(EXP, GOT)        ASSERT_NEQm(#EXP " != " #GOT, EXP, GOT)
#define ASSERT_GT(EXP, GOT)         ASSERT_GTm(#EXP " > " #GOT, EXP, GOT)
#define ASSERT_GTE(EXP, GOT)        ASSERT_GTEm(#EXP " >= " #GOT, EXP, GOT)
#define ASSERT_LT(EXP, GOT)         ASSERT_LTm(#EXP " < " #GOT, EXP, GOT)
#define ASSERT_LTE(EXP, GOT)        ASSERT_LTEm(#EXP " <= " #GOT, EXP, GOT)
#define ASSERT_EQ_FMT(EXP, GOT, FMT)        ASSERT_EQ_FMTm(#EXP " == " #GOT, EXP, GOT, FMT)
#define ASSERT_IN_RANGE(EXP, GOT, TOL)      ASSERT_IN_RANGEm(#EXP " near " #GOT, EXP, GOT, TOL)
#define ASSERT_STR_EQ(EXP, GOT)             ASSERT_STR_EQm(#EXP " equals " #GOT, EXP, GOT)
#define ASSERT_STRN_EQ(EXP, GOT, SIZE)      ASSERT_STRN_EQm(#EXP " equals " #GOT, EXP, GOT, SIZE)
#define ASSERT_MEM_EQ(EXP, GOT, SIZE)       ASSERT_MEM_EQm(#EXP " equals " #GOT, EXP, GOT, SIZE)
#define ASSERT_ENUM_EQ(EXP, GOT, ENUM_STR)  ASSERT_ENUM_EQm(#EXP " == " #GOT, EXP, GOT, ENUM_STR)

#endif
