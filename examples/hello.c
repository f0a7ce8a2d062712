/* Says who it is and what it can see. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

int
main(void)
{
    struct dirent *entry;
    DIR *root = opendir("/");

    printf("Hello from process %d, user %d. My root holds:", (int)getpid(),
           (int)getuid());
    while (root && (entry = readdir(root)))
        if (entry->d_name[0] != '.')
            printf(" %s", entry->d_name);
    printf("\n");
    return 0;
}
