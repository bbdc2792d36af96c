/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which mount of another machine's files has a path. */
#include <sys/sysmacros.h>

#include "base/mounts.h"

#include "greatest.h"

static const char mounts[] =
	"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	"28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
	"40 28 0:50 / /data rw shared:7 master:2 - nfs4 files:/data rw,vers=4.2\n"
	"41 40 0:51 / /data/ana/deep rw - nfs4 files:/deep rw\n"
	"42 28 0:52 / /share rw - cifs //nas/share rw\n"
	"43 28 0:53 / /box rw - overlay overlay rw,lowerdir=a:/b\n"
	"44 28 0:54 / /data rw - nfs4 newer:/data rw\n"
	"45 28 0:55 /";

static uint64_t find(const char *path, const char *source, struct slice *ret_source)
{
	*ret_source = slice_make(NULL, 0);
	return mount_find(slice_str(mounts), path, slice_str(source), ret_source);
}

TEST the_mount_nearest_to_the_path_counts(void)
{
	struct slice source;

	ASSERT_EQ(makedev(0, 51), find("/data/ana/deep/er", "", &source));
	ASSERT(slice_eq(source, slice_str("files:/deep")));
	ASSERT_EQ(makedev(0, 51), find("/data/ana/deep", "", &source));
	ASSERT_EQ(makedev(0, 54), find("/data/ana/deeper", "", &source));
	ASSERT(slice_eq(source, slice_str("newer:/data")));      /* the later mount is above the earlier one */
	ASSERT_EQ(makedev(0, 52), find("/share", "", &source));
	ASSERT(slice_eq(source, slice_str("//nas/share")));
	PASS();
}

TEST local_mounts_dont_count(void)
{
	struct slice source;

	ASSERT_EQ(0, find("/etc", "", &source));
	ASSERT_EQ(0, find("/box/x", "", &source));
	ASSERT_EQ(0, find("/datas", "", &source));
	ASSERT_EQ(0, source.len);
	PASS();
}

TEST a_mount_is_found_by_its_source(void)
{
	struct slice source;

	ASSERT_EQ(makedev(0, 50), find("/data/ana", "files:/data", &source));
	ASSERT_EQ(0, find("/data/ana", "files:/deep", &source));
	ASSERT_EQ(0, find("/share/x", "files:/data", &source));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_mount_nearest_to_the_path_counts);
	RUN_TEST(local_mounts_dont_count);
	RUN_TEST(a_mount_is_found_by_its_source);
	GREATEST_MAIN_END();
}
