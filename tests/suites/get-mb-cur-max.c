/* The longest character of a locale, in bytes, as that of grep's and sed's
 * tests. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
    if (argc < 2 || !setlocale(LC_ALL, argv[1]))
        return 1;

    printf("%d\n", (int)MB_CUR_MAX);
    return 0;
}
