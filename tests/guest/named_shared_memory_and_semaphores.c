/* shm_open, memfd_create and sem_open: memory and semaphores that other
 * programs find by name or by descriptor. */
#include "guest.h"
#include <semaphore.h>
#include <sys/mman.h>

enum { LEN = 3 * 4096 };
#define RW (PROT_READ | PROT_WRITE)

static char name[64], go_name[64], done_name[64];

static void
set_names(const char *id)
{
    snprintf(name, sizeof name, "/guest-test-%s", id);
    snprintf(go_name, sizeof go_name, "/guest-go-%s", id);
    snprintf(done_name, sizeof done_name, "/guest-done-%s", id);
}

static int
child(const char *arg)
{
    int fd = atoi(arg);
    struct stat st;

    if (fd >= 0) { /* a memfd */
        OK(fstat(fd, &st));
        CHECK_EQ(st.st_size, LEN);
        char *p = OK(mmap(NULL, LEN, RW, MAP_SHARED, fd, 0));
        CHECK_STR(p + 5000, "parent");
        strcpy(p, "child");
        return 0;
    }
    set_names(arg + 1);
    fd = OK(shm_open(name, O_RDWR, 0));
    char *p = OK(mmap(NULL, LEN, RW, MAP_SHARED, fd, 0));
    sem_t *go = sem_open(go_name, 0), *done = sem_open(done_name, 0);
    CHECK(go != SEM_FAILED && done != SEM_FAILED);
    for (int i = 0; i < 50; i++) {
        OK(sem_wait(go));
        p[i]++;
        OK(sem_post(done));
    }
    OK(sem_close(go));
    return 0;
}

static void
by_name(void)
{
    char arg[32];

    snprintf(arg, sizeof arg, "-%d", (int)getpid());
    set_names(arg + 1);
    int fd = OK(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
    OK(ftruncate(fd, LEN));
    char *p = OK(mmap(NULL, LEN, RW, MAP_SHARED, fd, 0));
    OK(close(fd));
    sem_t *go = sem_open(go_name, O_CREAT | O_EXCL, 0600, 0);
    sem_t *done = sem_open(done_name, O_CREAT | O_EXCL, 0600, 0);
    CHECK(go != SEM_FAILED && done != SEM_FAILED);
    CHECK(sem_open(go_name, O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED);
    CHECK_EQ(errno, EEXIST);
    CHECK(sem_open(go_name, 0) == go);
    pid_t pid = spawn_self(arg);
    for (int i = 0; i < 50; i++) {
        p[i] = 1;
        OK(sem_post(go));
        OK(sem_wait(done));
        CHECK_EQ(p[i], 2);
    }
    CHECK_EQ(wait_exit(pid), 0);
    int value;
    OK(sem_getvalue(go, &value));
    CHECK_EQ(value, 0);
    OK(sem_unlink(go_name));
    OK(sem_unlink(done_name));
    CHECK(sem_open(go_name, 0) == SEM_FAILED);
    CHECK_EQ(errno, ENOENT);
    OK(shm_unlink(name));
    CHECK_ERR(shm_open(name, O_RDWR, 0), ENOENT);
    CHECK_EQ(p[0], 2);
}

static void
by_descriptor(void)
{
    int fd = OK(memfd_create("some name", 0));
    char arg[16], path[64], link[64] = "";

    OK(ftruncate(fd, LEN));
    char *p = OK(mmap(NULL, LEN, RW, MAP_SHARED, fd, 0));
    strcpy(p + 5000, "parent");
    snprintf(arg, sizeof arg, "%d", fd);
    CHECK_EQ(wait_exit(spawn_self(arg)), 0);
    CHECK_STR(p, "child");
    CHECK_EQ(pread(fd, arg, 6, 0), 6);
    CHECK_STR(arg, "child");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    OK(readlink(path, link, sizeof link - 1));
    CHECK_STR(link, "/memfd:some name (deleted)");
    int closed = OK(memfd_create("", MFD_CLOEXEC));
    CHECK(fcntl(closed, F_GETFD) & FD_CLOEXEC);
    CHECK_ERR(memfd_create("x", 0x4000), EINVAL);
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[0], "child"))
        return child(argv[1]);
    by_name();
    by_descriptor();
    return 0;
}
