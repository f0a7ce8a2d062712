/* The kernel's texts about cgroups. */
#include "../unit/test.h"

#include "supervisor/jail/cgroup_text.h"

#include <string.h>

static const char hybrid[] =
    "22 1 0:20 / /proc rw,relatime - proc proc rw\n"
    "30 24 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n"
    "32 30 0:28 /docker/x /mnt/a\\040b\\134 rw - cgroup none rw,memory,pids\n"
    "33 30 0:29 / /sys/fs/cgroup/unified rw shared:1 master:2 - cgroup2 "
    "cgroup2 rw,nsdelegate\n"
    "34 30 0:30 / /other rw - cgroup2 none rw\n";

TEST(a_v1_mount_is_found_by_its_controller)
{
    struct cgroup_mount m;

    CHECK(cgroup_text_find_mount(hybrid, "cpu", &m));
    CHECK_EQ(m.version, 1);
    CHECK(!strcmp(m.root, "/"));
    CHECK(!strcmp(m.point, "/sys/fs/cgroup/cpu"));
    CHECK(!cgroup_text_find_mount(hybrid, "cpuset", &m));
    CHECK(!cgroup_text_find_mount(hybrid, "cp", &m));
}

TEST(paths_of_mounts_are_unescaped)
{
    struct cgroup_mount m;

    CHECK(cgroup_text_find_mount(hybrid, "pids", &m));
    CHECK(!strcmp(m.root, "/docker/x"));
    CHECK(!strcmp(m.point, "/mnt/a b\\"));
}

TEST(the_first_v2_mount_is_found)
{
    struct cgroup_mount m;

    CHECK(cgroup_text_find_mount(hybrid, NULL, &m));
    CHECK_EQ(m.version, 2);
    CHECK(!strcmp(m.point, "/sys/fs/cgroup/unified"));
}

TEST(mounts_that_are_cut_off_or_too_long_are_not_found)
{
    struct cgroup_mount m;
    char line[CGROUP_PATH_BYTES + 64] = "1 1 0:1 / /";

    for (size_t n = 0; n < strlen("33 30 0:29 / /u rw - cgroup2"); n++) {
        char part[64] = "33 30 0:29 / /u rw - cgroup2";
        part[n] = 0;
        CHECK(!cgroup_text_find_mount(part, NULL, &m));
    }
    memset(line + strlen(line), 'x', CGROUP_PATH_BYTES);
    strcat(line, " rw - cgroup2 n rw");
    CHECK(!cgroup_text_find_mount(line, NULL, &m));
}

TEST(our_own_group_is_found_in_each_hierarchy)
{
    static const char text[] = "9:name=systemd:/\n"
                               "4:memory,hugetlb:/a/b:c\n"
                               "1:cpu,cpuacct:/\n"
                               "0::/user.slice\n";
    char path[16];

    CHECK(cgroup_text_find_group(text, "memory", path, sizeof path));
    CHECK(!strcmp(path, "/a/b:c"));
    CHECK(cgroup_text_find_group(text, NULL, path, sizeof path));
    CHECK(!strcmp(path, "/user.slice"));
    CHECK(!cgroup_text_find_group(text, "pids", path, sizeof path));
    CHECK(!cgroup_text_find_group(text, NULL, path, 11));
    CHECK(!cgroup_text_find_group("0::", NULL, path, sizeof path));
    CHECK(!cgroup_text_find_group("", NULL, path, sizeof path));
}

TEST(counters_are_found_by_their_whole_name)
{
    static const char events[] = "oom 1\noom_kill 37\nmax 5\nbad x\nend";
    uint64_t n = 99;

    CHECK(cgroup_text_counter(events, "oom_kill", &n));
    CHECK_EQ(n, 37);
    CHECK(cgroup_text_counter(events, "max", &n));
    CHECK_EQ(n, 5);
    CHECK(!cgroup_text_counter(events, "oom_", &n));
    CHECK(!cgroup_text_counter(events, "bad", &n));
    CHECK(!cgroup_text_counter(events, "end", &n));
    CHECK(!cgroup_text_counter("", "oom", &n));
    CHECK_EQ(n, 5);
}

TEST(words_are_whole)
{
    CHECK(cgroup_text_has_word("cpu io memory\n", " \n", "memory"));
    CHECK(cgroup_text_has_word("cpu io memory\n", " \n", "cpu"));
    CHECK(!cgroup_text_has_word("cpuset io\n", " \n", "cpu"));
    CHECK(!cgroup_text_has_word("", " \n", "cpu"));
}
