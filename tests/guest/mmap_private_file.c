/* A private map shows the file from any page on and keeps its changes to
 * itself. */
#include "guest.h"

#include <sys/mman.h>

int
main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char c;

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, "first", 5), 5);
    CHECK_EQ(pwrite(fd, "second", 6, (off_t)page), 6);

    char *p = OK((char *)mmap(NULL, page + 6, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE, fd, 0));
    CHECK(memcmp(p, "first\0", 6) == 0);
    CHECK(memcmp(p + page, "second", 6) == 0);
    for (size_t i = page + 6; i < 2 * page; i++)
        CHECK(p[i] == 0); /* zeros up to the end of the page */
    p[0] = 'X';
    CHECK_EQ(pread(fd, &c, 1, 0), 1);
    CHECK_EQ(c, 'f');

    char *q =
        OK((char *)mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, (off_t)page));
    OK(close(fd)); /* the maps do not need it */
    CHECK(memcmp(q, "second", 6) == 0);
    OK(munmap(q, page));
    OK(munmap(p, page + 6));

    p = OK((char *)mmap(NULL, 100000, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (int i = 0; i < 100000; i++)
        CHECK(p[i] == 0);
    p[99999] = 1;
    OK(munmap(p, 100000));
    return 0;
}
