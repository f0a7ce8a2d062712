/* Records that several processes append to one file all arrive whole. */
#include "guest.h"

int
main(int argc, char **argv)
{
    char buf[64], line[64];

    if (argc > 1) {
        int fd = OK(open("log", O_WRONLY | O_APPEND));
        for (int i = 0; i < 300; i++) {
            snprintf(line, sizeof line, "%s %029d\n", argv[1], i);
            CHECK_EQ(write(fd, line, 32), 32);
        }
        return 0;
    }
    tmpdir();
    put("log", "");
    pid_t pids[] = {spawn_self("0"), spawn_self("1"), spawn_self("2")};
    for (int i = 0; i < 3; i++)
        CHECK_EQ(wait_exit(pids[i]), 0);
    CHECK_EQ(stat_of("log").st_size, 3 * 300 * 32);
    FILE *f = fopen("log", "r");
    CHECK(f != NULL);
    int next[3] = {0};
    while (fgets(buf, sizeof buf, f)) {
        int who = buf[0] - '0';
        CHECK(who >= 0 && who < 3);
        snprintf(line, sizeof line, "%d %029d\n", who, next[who]++);
        CHECK_STR(buf, line);
    }
    CHECK_EQ(next[0] + next[1] + next[2], 900);
    return 0;
}
