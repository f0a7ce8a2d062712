/* System calls about segments of System V. As with mmap2, the libc chooses the
 * addresses. */
#include "kernel/kernel.h"
#include "kernel/segment.h"
#include "kernel/shm.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

/* Of struct shmid_ds in the guest's <sys/shm.h>. */
struct abi_shmid {
    int32_t key;
    uint32_t uid, gid, cuid, cgid, mode;
    int32_t seq, pad[2];
    uint32_t size;
    int64_t atime, dtime, ctime;
    int32_t cpid, lpid;
    uint32_t mappings, pad2[2];
    uint32_t pad3;
};
_Static_assert(sizeof(struct abi_shmid) == 88, "struct shmid_ds");

enum {
    CMD_64 = 0x100, /* added by the libc; there is one layout only */
    CMD_LOCK = 11,
    CMD_UNLOCK = 12,
    CMD_STAT = 13,
    CMD_INFO = 14,
    CMD_STAT_ANY = 15,
    MODE_DEST = 01000,
};

/* shmget(key, size, flags) */
int64_t
sys_shmget(struct task *t, const union sysarg *a)
{
    return segment_get(t, a[0].i, a[1].u, a[2].u);
}

static uint64_t
segment_len(const struct segment *s)
{
    return ((uint64_t)s->size + SHMEM_PAGE_BYTES - 1) / SHMEM_PAGE_BYTES *
           SHMEM_PAGE_BYTES;
}

/* shmat(id, addr, flags): the libc asks shmctl for the length, and finds a
 * place */
int64_t
sys_shmat(struct task *t, const union sysarg *a)
{
    struct segment *s = segment_find(t->kernel, a[0].i);
    bool read_only = a[2].u & SHM_RDONLY;
    struct task *space = shm_space(t);

    if (!s)
        return -EINVAL;
    int r = segment_access(t, s, read_only ? R_OK : R_OK | W_OK);
    if (r < 0)
        return r;
    if (!a[1].addr || a[1].addr % SHMEM_PAGE_BYTES)
        return -EINVAL;
    const struct shm_range range = {.at = a[1].addr,
                                    .len = segment_len(s),
                                    .prot = read_only ? PROT_READ
                                                      : PROT_READ | PROT_WRITE};
    r = shm_map(space, &range, s->mem, NULL);
    if (r < 0)
        return r;
    segment_attached(t->kernel, s, t->pid);
    return (int64_t)a[1].addr;
}

/* shmdt(addr): returns the length of the segment */
int64_t
sys_shmdt(struct task *t, const union sysarg *a)
{
    struct task *space = shm_space(t);
    const struct shm_map *m = shm_next(space, a[0].addr);

    if (!m || m->at != a[0].addr || !m->mem->segment)
        return -EINVAL;
    uint64_t len = m->len;
    int r = shm_unmap(space, m->at, m->at + len);
    return r < 0 ? r : (int64_t)len;
}

/* --- shmctl */

static int
sys_segment_stat(struct task *t, const struct segment *s, gaddr to)
{
    const struct abi_shmid out = {.key = s->key,
                                  .uid = s->uid,
                                  .gid = s->gid,
                                  .cuid = s->cuid,
                                  .cgid = s->cgid,
                                  .mode =
                                      s->mode | (s->is_removed ? MODE_DEST : 0),
                                  .size = s->size,
                                  .atime = s->atime_ns / NS_PER_S,
                                  .dtime = s->dtime_ns / NS_PER_S,
                                  .ctime = s->ctime_ns / NS_PER_S,
                                  .cpid = s->cpid,
                                  .lpid = s->lpid,
                                  .mappings = (uint32_t)segment_mappings(s)};

    return copy_to_guest(t, to, &out, sizeof out);
}

static int
sys_segment_set(struct task *t, struct segment *s, gaddr from)
{
    struct abi_shmid in;
    int r = copy_from_guest(t, &in, from, sizeof in);

    if (r < 0)
        return r;
    s->uid = in.uid;
    s->gid = in.gid;
    s->mode = in.mode & 0777;
    s->ctime_ns = clock_real_ns(&t->kernel->clock);
    return 0;
}

/* Commands about all segments return the highest index, and their number or the
 * limits. */
static int64_t
sys_segment_info(struct task *t, uint32_t cmd, gaddr to)
{
    const struct kernel *k = t->kernel;
    const uint32_t limits[9] = {INT32_MAX, 1, 4096, 4096, UINT32_MAX / 4096};
    uint64_t pages = 0;

    LIST_FOR_EACH(it, &k->segments)
        pages += segment_len(CONTAINER_OF(it, struct segment, link)) /
                 SHMEM_PAGE_BYTES;
    const uint32_t info[6] = {(uint32_t)k->n_segments, (uint32_t)pages,
                              (uint32_t)pages};
    int r = cmd == CMD_INFO ? copy_to_guest(t, to, info, sizeof info)
                            : copy_to_guest(t, to, limits, sizeof limits);
    return r < 0 ? r : k->n_segments ? (int64_t)k->n_segments - 1 : 0;
}

/* Finds a segment by its index, as ipcs(1) does. */
static struct segment *
sys_segment_nth(struct kernel *k, int32_t n)
{
    int32_t i = 0;

    LIST_FOR_EACH(it, &k->segments)
        if (i++ == n)
            return CONTAINER_OF(it, struct segment, link);
    return NULL;
}

static int64_t
sys_segment_command(struct task *t, struct segment *s, uint32_t cmd, gaddr buf)
{
    int r = 0;

    switch (cmd) {
    case IPC_STAT:
    case CMD_STAT:
        r = segment_access(t, s, R_OK);
        break;
    case IPC_SET:
    case IPC_RMID:
    case CMD_LOCK:
    case CMD_UNLOCK:
        r = segment_is_own(t, s) ? 0 : -EPERM;
        break;
    case CMD_STAT_ANY:
        break;
    default:
        return -EINVAL;
    }
    if (r < 0 || cmd == CMD_LOCK || cmd == CMD_UNLOCK)
        return r;
    if (cmd == IPC_SET)
        return sys_segment_set(t, s, buf);
    if (cmd == IPC_RMID) {
        segment_remove(t->kernel, s);
        return 0;
    }
    r = sys_segment_stat(t, s, buf);
    return r < 0 || cmd == IPC_STAT ? r : s->id;
}

/* shmctl(id, command, buf) */
int64_t
sys_shmctl(struct task *t, const union sysarg *a)
{
    uint32_t cmd = a[1].u & ~(uint32_t)CMD_64;
    bool by_index = cmd == CMD_STAT || cmd == CMD_STAT_ANY;

    if (cmd == IPC_INFO || cmd == CMD_INFO)
        return sys_segment_info(t, cmd, a[2].addr);
    struct segment *s = by_index ? sys_segment_nth(t->kernel, a[0].i)
                                 : segment_find(t->kernel, a[0].i);
    return s ? sys_segment_command(t, s, cmd, a[2].addr) : -EINVAL;
}
