/* needs: /bin/sh */
/* posix_spawn, system and popen in several threads at once. */
#include "thread.h"

static void *
spawner(void *arg)
{
    long me = (long)arg;
    char text[16];

    snprintf(text, sizeof text, "%ld", me);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(wait_exit(spawn_self(text)), me);
    return NULL;
}

static void *
piper(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        char buf[32];
        FILE *f = popen("echo from the shell", "r");
        CHECK(f != NULL);
        CHECK(fgets(buf, sizeof buf, f) != NULL);
        CHECK_STR(buf, "from the shell\n");
        CHECK_EQ(pclose(f), 0);
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t t[6];

    if (argc > 1)
        return atoi(argv[1]);
    for (long i = 0; i < 6; i++)
        t[i] = thread_start(i < 4 ? spawner : piper, (void *)(i + 20));
    for (int i = 0; i < 6; i++)
        thread_join(t[i]);
    return 0;
}
