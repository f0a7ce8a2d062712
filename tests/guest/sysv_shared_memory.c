/* Segments of System V: keys, rights, attaching at any place, and their end
 * with the last process that has them. */
/* post: fork */
#include "guest.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

enum { PAGE = 4096 };

static struct shmid_ds
state(int id)
{
    struct shmid_ds ds;

    OK(shmctl(id, IPC_STAT, &ds));
    return ds;
}

static void
attach_and_detach(void)
{
    int id = OK(shmget(IPC_PRIVATE, 2 * PAGE + 10, 0600));
    char *p = OK(shmat(id, NULL, 0)), *q = OK(shmat(id, NULL, 0));

    CHECK(p != q);
    for (int i = 0; i < 2 * PAGE + 10; i++)
        CHECK(!p[i]);
    strcpy(p + 2 * PAGE, "last");
    CHECK_STR(q + 2 * PAGE, "last");
    struct shmid_ds ds = state(id);
    CHECK_EQ(ds.shm_segsz, 2 * PAGE + 10);
    CHECK_EQ(ds.shm_nattch, 2);
    CHECK_EQ(ds.shm_cpid, getpid());
    CHECK_EQ(ds.shm_perm.mode & 0777, 0600);
    CHECK_EQ(ds.shm_perm.uid, geteuid());
    CHECK(ds.shm_atime >= ds.shm_ctime && !ds.shm_dtime);
    OK(shmdt(q));
    CHECK_ERR(shmdt(q), EINVAL);
    CHECK_EQ(state(id).shm_nattch, 1);
    CHECK(state(id).shm_dtime > 0);

    pid_t pid = OK(fork());
    if (!pid) {
        CHECK_EQ(state(id).shm_nattch, 2);
        strcpy(p, "child");
        _exit(0); /* detaches */
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_STR(p, "child");
    CHECK_EQ(state(id).shm_nattch, 1);

    /* A removed segment stays for those who have it. */
    OK(shmctl(id, IPC_RMID, NULL));
    strcpy(p, "removed");
    CHECK_EQ(state(id).shm_nattch, 1);
    OK(shmdt(p));
    CHECK_ERR(shmctl(id, IPC_STAT, &ds), EINVAL);
    CHECK_ERR(shmdt(p), EINVAL);
}

static void
places(void)
{
    int id = OK(shmget(IPC_PRIVATE, PAGE, 0600));
    char *area = OK(mmap(NULL, 100 * PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char *at = area + PAGE;

    CHECK_ERR((long)shmat(id, at, 0), EINVAL); /* something is there */
    CHECK_ERR((long)shmat(id, at + 1, SHM_REMAP), EINVAL);
    CHECK(shmat(id, at + 1, SHM_RND | SHM_REMAP) == at);
    *at = 5;
    char *p = OK(shmat(id, NULL, SHM_RDONLY));
    CHECK_EQ(*p, 5);
    OK(shmdt(at));
    OK(shmdt(p));
    OK(munmap(area, 100 * PAGE));
    CHECK(shmat(id, at, 0) == at);
    CHECK_EQ(*at, 5);
    OK(shmdt(at));
    OK(shmctl(id, IPC_RMID, NULL));
}

static int
child(key_t key)
{
    int id = OK(shmget(key, 0, 0));
    char *p = OK(shmat(id, NULL, 0));

    CHECK_STR(p, "by key");
    strcpy(p, "answer");
    return 0;
}

static void
keys(void)
{
    put("key", "");
    key_t key = OK(ftok("key", 'k'));
    CHECK_ERR(shmget(key, PAGE, 0600), ENOENT);
    int id = OK(shmget(key, PAGE, IPC_CREAT | IPC_EXCL | 0600));
    CHECK_ERR(shmget(key, PAGE, IPC_CREAT | IPC_EXCL | 0600), EEXIST);
    CHECK_EQ(shmget(key, 10, IPC_CREAT | 0600), id);
    CHECK_ERR(shmget(key, PAGE + 1, 0600), EINVAL);
    CHECK_ERR(shmget(IPC_PRIVATE, 0, 0600), EINVAL);
    CHECK_ERR((long)shmat(id + 12345, NULL, 0), EINVAL);
    char *p = OK(shmat(id, NULL, 0)), text[16];
    strcpy(p, "by key");
    snprintf(text, sizeof text, "%d", (int)key);
    CHECK_EQ(wait_exit(spawn_self(text)), 0);
    CHECK_STR(p, "answer");

    struct shmid_ds ds = state(id);
    ds.shm_perm.mode = 0400;
    OK(shmctl(id, IPC_SET, &ds));
    CHECK_EQ(state(id).shm_perm.mode & 0777, 0400);
    OK(shmctl(id, IPC_RMID, NULL));
    CHECK_ERR(shmget(key, 0, 0), ENOENT);
    CHECK_STR(p, "answer");
    OK(shmdt(p));
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[0], "child"))
        return child((key_t)atoi(argv[1]));
    tmpdir();
    attach_and_detach();
    places();
    keys();
    return 0;
}
