/* Structures of the header that begin with their size.
 *
 * A caller may have been compiled with an older or a newer version of the
 * header. Older callers have fewer members: the missing ones count as zero, and
 * are not filled in results. Newer callers have more: they must be zero,
 * because this version would silently ignore them otherwise. */
#include "lib/sized.h"

#include "lib/error.h"

#include <errno.h>
#include <string.h>

int
sized_check(const void *p, const char *name, struct wsand_error *err)
{
    size_t size = *(const size_t *)p;

    if (size >= sizeof size)
        return 0;
    return error_set(err, EINVAL, "struct %s: the size %zu is not valid", name,
                     size);
}

/* Members that this version does not know must be zero, which means "not used"
 * everywhere in the header. */
int
sized_take(void *to, size_t size, const void *from, const char *name,
           struct wsand_error *err)
{
    size_t given = *(const size_t *)from;
    size_t common = given < size ? given : size;

    int r = sized_check(from, name, err);
    if (r < 0)
        return r;
    for (size_t i = common; i < given; i++)
        if (((const uint8_t *)from)[i])
            return error_set(err, EINVAL,
                             "struct %s: of %zu bytes, only %zu are known",
                             name, given, size);
    memset(to, 0, size);
    memcpy(to, from, common);
    memcpy(to, &size, sizeof size);
    return 0;
}

/* Fills the members that the caller knows. Members of a newer header become
 * zero. */
void
sized_give(void *to, const void *from, size_t size)
{
    size_t given = *(const size_t *)to;
    size_t common = given < size ? given : size;

    memset(to, 0, given);
    memcpy(to, from, common);
    memcpy(to, &given, sizeof given);
}
