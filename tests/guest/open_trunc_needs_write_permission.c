/* O_RDONLY|O_TRUNC of a file that may not be written is refused and leaves
 * it whole. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    put("f", "data");
    OK(chmod("f", 0444));
    CHECK_ERR(open("f", O_RDONLY | O_TRUNC), EACCES);
    CHECK_EQ(stat_of("f").st_size, 4);

    /* with the permission Linux truncates, even if it opens for reading */
    OK(chmod("f", 0644));
    OK(open("f", O_RDONLY | O_TRUNC));
    CHECK_EQ(stat_of("f").st_size, 0);
    return 0;
}
