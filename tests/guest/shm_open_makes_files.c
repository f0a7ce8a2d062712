/* Shared memory objects are files with names of their own. */
#include "guest.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int
main(void)
{
    char name[64], buf[8] = "";
    struct stat st;

    snprintf(name, sizeof name, "/wasmsand-test-%d", (int)getpid());
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0);
    CHECK(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600) < 0);
    CHECK(ftruncate(fd, 5000) == 0);
    CHECK(pwrite(fd, "shared", 6, 4000) == 6);
    int other = shm_open(name, O_RDONLY, 0);
    CHECK(other >= 0);
    CHECK(fstat(other, &st) == 0 && st.st_size == 5000);
    CHECK(pread(other, buf, 6, 4000) == 6 && !strcmp(buf, "shared"));
    CHECK(shm_unlink(name) == 0);
    CHECK(shm_open(name, O_RDONLY, 0) < 0);
    CHECK(stat("/dev/shm", &st) == 0 && S_ISDIR(st.st_mode));
    CHECK((st.st_mode & 07777) == 01777);
    return 0;
}
