/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors: their numbers in the protocol, and the record that explains one. */
#include <errno.h>
#include <limits.h>

#include "proto/error.h"
#include "greatest.h"

static const struct {
	unsigned wire;
	const char *name;
} rows[] = {
#define ERROR(name, wire, exit_status, again, text) { wire, #name },
#include "proto/errors.def"
#undef ERROR
};

TEST wire_codes_are_unique_and_named(void)
{
	size_t count = sizeof(rows) / sizeof(rows[0]);

	for (size_t i = 0; i < count; i++) {
		enum err code = (enum err)rows[i].wire;

		for (size_t j = 0; j < i; j++) {
			ASSERT_NEQ(rows[j].wire, rows[i].wire);
			ASSERT_NEQ(0, strcmp(rows[j].name, rows[i].name));
		}
		ASSERT(err_known(rows[i].wire));
		ASSERT_STR_EQ(rows[i].name, err_name(code));
		ASSERT(err_text(code)[0]);
		ASSERT_EQ(code == ERR_NONE, err_exit_status(code) == 0);
		ASSERT_IN_RANGE(128, err_exit_status(code), 128);
	}
	PASS();
}

TEST unknown_codes_are_harmless(void)
{
	ASSERT_FALSE(err_known(9999));
	ASSERT_STR_EQ("UNKNOWN", err_name((enum err)9999));
	ASSERT_STR_EQ("UNKNOWN", err_name((enum err)-1));
	ASSERT_EQ(70, err_exit_status((enum err)9999));
	ASSERT_FALSE(err_again((enum err)9999));
	PASS();
}

TEST meanings_stay(void)
{
	ASSERT_EQ(3, err_exit_status(ERR_DENIED));
	ASSERT_EQ(4, err_exit_status(ERR_NOT_FOUND));
	ASSERT_EQ(75, err_exit_status(ERR_BUSY));
	ASSERT(err_again(ERR_BUSY));
	ASSERT_FALSE(err_again(ERR_DENIED));
	ASSERT_EQ(21, (int)ERR_MISSING_FIELD);
	PASS();
}

TEST record_is_filled(void)
{
	struct error error;

	ASSERT_EQ(ERR_NOT_FOUND, error_set(&error, ERR_NOT_FOUND, "no run %d", 7));
	ASSERT_EQ(ERR_NOT_FOUND, error.code);
	ASSERT_STR_EQ("no run 7", error.text);
	ASSERT_STR_EQ("", error.next);
	ASSERT_EQ(ERR_NOT_FOUND, error_next(&error, "titan ls --%s", "all"));
	ASSERT_STR_EQ("titan ls --all", error.next);
	ASSERT_EQ(ERR_SYSTEM, error_system(&error, ENOENT, "open %s", "x"));
	ASSERT_STR_EQ("open x: No such file or directory", error.text);
	ASSERT_STR_EQ("", error.next);
	PASS();
}

/* A path of 4,095 bytes that ends in /titan.db. */
static const char *longest_path(void)
{
	static char path[PATH_MAX];

	memset(path, 'd', sizeof(path) - 1);
	memcpy(path + sizeof(path) - sizeof("/titan.db"), "/titan.db", sizeof("/titan.db"));
	path[0] = '/';
	return path;
}

TEST advice_is_whole_or_absent(void)
{
	struct error error;
	char wanted[ERROR_NEXT_SIZE], text[ERROR_NEXT_SIZE + 1];

	error_set(&error, ERR_STORE, "damaged");
	error_next(&error, "titan restore FILE with a backup; or, to go on without what was lost, titan restore %s", longest_path());
	snprintf(wanted, sizeof(wanted), "titan restore FILE with a backup; or, to go on without what was lost, titan restore %s",
		 longest_path());
	ASSERT_STR_EQ(wanted, error.next);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_next(&error, "titan show '%s'", text);
	ASSERT_STR_EQ("", error.next);
	PASS();
}

TEST long_text_keeps_both_ends(void)
{
	struct error error;

	error_set(&error, ERR_STORE, "the store %s ends with turn 7, and turn 9 was acknowledged", longest_path());
	ASSERT_EQ_FMT((size_t)ERROR_TEXT_SIZE - 1, strlen(error.text), "%zu");
	ASSERT_EQ(0, strncmp("the store /ddd", error.text, 14));
	ASSERT(strstr(error.text, "ddd...ddd"));
	ASSERT(strstr(error.text, "/titan.db ends with turn 7, and turn 9 was acknowledged"));
	error_system(&error, ENOTDIR, "can't use the state directory %s", longest_path());
	ASSERT_EQ_FMT((size_t)ERROR_TEXT_SIZE - 1, strlen(error.text), "%zu");
	ASSERT(strstr(error.text, "...: Not a directory"));
	PASS();
}

TEST record_is_optional_and_bounded(void)
{
	struct error error;
	char text[ERROR_NEXT_SIZE + 2000];

	ASSERT_EQ(ERR_BUSY, error_set(NULL, ERR_BUSY, "x"));
	ASSERT_EQ(ERR_SYSTEM, error_system(NULL, EIO, "x"));
	ASSERT_EQ(ERR_INTERNAL, error_next(NULL, "x"));
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_set(&error, ERR_BUSY, "%s", text);
	ASSERT_EQ_FMT((size_t)ERROR_TEXT_SIZE - 1, strlen(error.text), "%zu");
	error_system(&error, EIO, "%s", text);
	ASSERT_EQ_FMT((size_t)ERROR_TEXT_SIZE - 1, strlen(error.text), "%zu");
	error_next(&error, "%s", text);
	ASSERT_STR_EQ("", error.next);
	error_clear(&error);
	ASSERT_EQ(ERR_NONE, error.code);
	ASSERT_STR_EQ("", error.text);
	PASS();
}

SUITE(proto_error)
{
	RUN_TEST(wire_codes_are_unique_and_named);
	RUN_TEST(unknown_codes_are_harmless);
	RUN_TEST(meanings_stay);
	RUN_TEST(record_is_filled);
	RUN_TEST(advice_is_whole_or_absent);
	RUN_TEST(long_text_keeps_both_ends);
	RUN_TEST(record_is_optional_and_bounded);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(proto_error);
	GREATEST_MAIN_END();
}
