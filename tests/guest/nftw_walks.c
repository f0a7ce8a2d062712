/* nftw visits a tree in the asked order with types and levels. */
#include "guest.h"

#include <ftw.h>

static char log_[256];

static int
visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    const char *t = type == FTW_D     ? "D"
                    : type == FTW_DP  ? "P"
                    : type == FTW_F   ? "F"
                    : type == FTW_SL  ? "L"
                    : type == FTW_SLN ? "N"
                                      : "?";

    (void)st;
    snprintf(log_ + strlen(log_), sizeof log_ - strlen(log_), "%s%s%d ", t,
             path + ftw->base, ftw->level);
    return strcmp(path + ftw->base, "stop") == 0 ? 7 : 0;
}

int
main(void)
{
    tmpdir();
    OK(mkdir("t", 0755));
    OK(mkdir("t/d", 0755));
    put("t/d/f", "");
    OK(nftw("t", visit, 10, FTW_PHYS));
    CHECK_STR(log_, "Dt0 Dd1 Ff2 ");
    log_[0] = 0;
    OK(nftw("t", visit, 10, FTW_PHYS | FTW_DEPTH));
    CHECK_STR(log_, "Ff2 Pd1 Pt0 ");

    OK(unlink("t/d/f"));
    OK(symlink("none", "t/d/l"));
    log_[0] = 0;
    OK(nftw("t/d", visit, 10, FTW_PHYS));
    CHECK_STR(log_, "Dd0 Ll1 ");
    log_[0] = 0;
    OK(nftw("t/d", visit, 10, 0));
    CHECK_STR(log_, "Dd0 Nl1 ");
    put("t/stop", "");
    CHECK_EQ(nftw("t", visit, 10, FTW_PHYS), 7);
    CHECK_ERR(nftw("none", visit, 10, FTW_PHYS), ENOENT);
    return 0;
}
