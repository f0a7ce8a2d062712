/* What a jail's end is called. */
#include "../unit/test.h"

#include "supervisor/jail/ending.h"

#include <signal.h>
#include <string.h>

static bool
ends(struct ending e, const char *cause, int status)
{
    return !strcmp(ending_cause(&e), cause) && ending_exit_status(&e) == status;
}

TEST(status_137_is_no_proof_of_oom)
{
    CHECK(ends((struct ending){.status = 137 << 8}, "exited", 137));
    CHECK(ends((struct ending){.status = SIGKILL}, "killed", 137));
}

TEST(the_kernels_counter_is)
{
    struct ending e = {.status = SIGKILL, .counters.oom_kills = 2};

    CHECK(ends(e, "oom", 137));
    e.status = 1 << 8; /* a child was killed, the command went on */
    CHECK(ends(e, "oom", 1));
}

TEST(the_watchdogs_word_is)
{
    CHECK(ends((struct ending){.status = SIGKILL, .over_memory = true}, "oom",
               137));
}

TEST(faults_are_crashes_and_other_signals_are_not)
{
    CHECK(ends((struct ending){.status = SIGSEGV}, "crashed", 139));
    CHECK(ends((struct ending){.status = SIGABRT | 0x80}, "crashed", 134));
    CHECK(ends((struct ending){.status = SIGSYS}, "crashed", 159));
    CHECK(ends((struct ending){.status = SIGXCPU}, "cpu", 152));
    CHECK(ends((struct ending){.status = SIGTERM}, "killed", 143));
}
