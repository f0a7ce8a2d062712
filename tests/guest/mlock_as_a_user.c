/* An ordinary user locks pages up to RLIMIT_MEMLOCK. */
#include "guest.h"

#include <sys/mman.h>
#include <sys/resource.h>

static size_t page;

static long
locked_kb(void)
{
    char text[4096];

    get("/proc/self/status", text, sizeof text);
    char *at = strstr(text, "VmLck:");
    CHECK(at != NULL);
    return strtol(at + 6, NULL, 10);
}

static void
limit_to(size_t pages)
{
    struct rlimit limit;

    OK(getrlimit(RLIMIT_MEMLOCK, &limit));
    limit.rlim_cur = pages * page;
    OK(setrlimit(RLIMIT_MEMLOCK, &limit));
}

int
main(void)
{
    as_user();
    page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);

    limit_to(4);
    OK(mlock(p, 4 * page));
    CHECK_EQ(locked_kb(), 4 * page / 1024);
    OK(mlock(p + page, 3 * page)); /* counts once */
    CHECK_EQ(locked_kb(), 4 * page / 1024);
    CHECK_ERR(mlock(p, 5 * page), ENOMEM);
    CHECK_ERR(mlock(p + 8 * page, 1), ENOMEM);
    OK(munlock(p + page, page));
    CHECK_EQ(locked_kb(), 3 * page / 1024);
    OK(mlock(p + 8 * page + 5, 1)); /* a page is locked as a whole */
    CHECK_EQ(locked_kb(), 4 * page / 1024);
    OK(munlock(p, 16 * page));
    CHECK_EQ(locked_kb(), 0);
    OK(mlock(p, 0));

    OK(munmap(p + 8 * page, 8 * page));
    CHECK_ERR(mlock(p + 8 * page, 1), ENOMEM);
    CHECK_ERR(munlock(p + 8 * page, 1), ENOMEM);
    CHECK_ERR(mlockall(0), EINVAL);
    CHECK_ERR(mlockall(64), EINVAL);
    CHECK_ERR(mlockall(MCL_CURRENT), ENOMEM);
    OK(mlockall(MCL_FUTURE));
    OK(munlockall());

    OK(mlock(p, 2 * page));
    OK(munlockall());
    CHECK_EQ(locked_kb(), 0);
    limit_to(0);
    CHECK_ERR(mlock(p, page), EPERM);
    CHECK_ERR(mlockall(MCL_FUTURE), EPERM);
    return 0;
}
