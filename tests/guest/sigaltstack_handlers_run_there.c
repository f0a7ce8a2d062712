/* A handler with SA_ONSTACK runs on the alternate stack of its thread, and
 * others on the ordinary one; sigaltstack reports and refuses as POSIX says. */
#include "thread.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

enum { SIZE = 65536 };

static char first[SIZE], second[SIZE];
static char *stack_of_handler = first;
static volatile int was_on, flags_inside, nested_on, refused;
static sigjmp_buf back;

static int
is_on(const char *stack)
{
    volatile char here;

    return &here >= stack && &here < stack + SIZE;
}

static void
handler(int sig)
{
    stack_t now;

    was_on = is_on(stack_of_handler);
    OK(sigaltstack(NULL, &now));
    flags_inside = now.ss_flags;
}

static void
use(char *memory)
{
    stack_t ss = {.ss_sp = memory, .ss_size = SIZE};

    OK(sigaltstack(&ss, NULL));
}

static void catch (int sig, void (*func)(int), int flags)
{
    struct sigaction sa = {.sa_handler = func, .sa_flags = flags};

    OK(sigaction(sig, &sa, NULL));
}

static void
on_the_stack(void)
{
    use(first);
    catch (SIGUSR1, handler, SA_ONSTACK);
    OK(raise(SIGUSR1));
    CHECK(was_on);
    CHECK_EQ(flags_inside, SS_ONSTACK);

    catch (SIGUSR1, handler, 0);
    OK(raise(SIGUSR1));
    CHECK(!was_on);
    CHECK_EQ(flags_inside, 0);
}

/* While the stack is in use, it cannot be changed. */
static void
changes_its_stack(int sig)
{
    stack_t ss = {.ss_sp = second, .ss_size = SIZE};

    refused = sigaltstack(&ss, NULL) < 0 && errno == EPERM;
}

static void
reports_and_errors(void)
{
    stack_t ss, old;

    ss = (stack_t){.ss_sp = first, .ss_size = 512};
    CHECK_ERR(sigaltstack(&ss, NULL), ENOMEM);
    ss = (stack_t){.ss_sp = first, .ss_size = SIZE, .ss_flags = 64};
    CHECK_ERR(sigaltstack(&ss, NULL), EINVAL);
    OK(sigaltstack(NULL, &old));
    CHECK(old.ss_sp == first && old.ss_size == SIZE && old.ss_flags == 0);

    ss = (stack_t){.ss_sp = second, .ss_size = SIZE};
    OK(sigaltstack(&ss, &old));
    CHECK(old.ss_sp == first);
    stack_of_handler = second;
    catch (SIGUSR1, handler, SA_ONSTACK);
    OK(raise(SIGUSR1));
    CHECK(was_on);
    catch (SIGUSR1, changes_its_stack, SA_ONSTACK);
    OK(raise(SIGUSR1));
    CHECK(refused);

    ss = (stack_t){.ss_flags = SS_DISABLE};
    OK(sigaltstack(&ss, NULL));
    OK(sigaltstack(NULL, &old));
    CHECK_EQ(old.ss_flags, SS_DISABLE);
    catch (SIGUSR1, handler, SA_ONSTACK);
    OK(raise(SIGUSR1));
    CHECK(!was_on);
}

static void
outer(int sig)
{
    volatile char mark[64];

    mark[0] = 1;
    mark[63] = 2;
    OK(raise(SIGUSR2));
    CHECK_EQ(mark[0] + mark[63], 3);
    was_on = is_on(first);
}

static void
inner(int sig)
{
    volatile char noise[4096];

    memset((char *)noise, 9, sizeof noise);
    nested_on = is_on(first);
}

/* A second handler continues below the first one. */
static void
nested(void)
{
    use(first);
    catch (SIGUSR1, outer, SA_ONSTACK);
    catch (SIGUSR2, inner, SA_ONSTACK);
    OK(raise(SIGUSR1));
    CHECK(was_on);
    CHECK(nested_on);
}

static void
jumps(int sig)
{
    siglongjmp(back, 1);
}

/* A jump out of the handler leaves its stack. */
static void
jumped(void)
{
    stack_t now;

    catch (SIGUSR1, jumps, SA_ONSTACK);
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            OK(raise(SIGUSR1));
            CHECK(0);
        }
        CHECK(!is_on(first));
        OK(sigaltstack(NULL, &now));
        CHECK_EQ(now.ss_flags, 0);
    }
}

/* A thread begins without one, and its own does not touch the others'. */
static void *
thread(void *arg)
{
    stack_t now;

    OK(sigaltstack(NULL, &now));
    CHECK_EQ(now.ss_flags, SS_DISABLE);
    use(second);
    stack_of_handler = second;
    catch (SIGUSR1, handler, SA_ONSTACK);
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
    CHECK(was_on);
    return NULL;
}

int
main(void)
{
    pthread_t other;
    stack_t now;

    OK(sigaltstack(NULL, &now));
    CHECK_EQ(now.ss_flags, SS_DISABLE);
    on_the_stack();
    reports_and_errors();
    nested();
    jumped();
    CHECK_EQ(pthread_create(&other, NULL, thread, NULL), 0);
    CHECK_EQ(pthread_join(other, NULL), 0);
    OK(sigaltstack(NULL, &now));
    CHECK(now.ss_sp == first);
    return 0;
}
