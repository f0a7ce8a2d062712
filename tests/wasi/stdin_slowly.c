/* stdin: "ab" */
/* slowly: 0.2 */
/* stdout: "ready\n" */
/* Standard input that comes slowly: reads wait, poll says when. */
#include "check.h"

#include <poll.h>
#include <unistd.h>

int
main(void)
{
    struct pollfd p = {.fd = 0, .events = POLLRDNORM};
    char c;

    puts("ready");
    fflush(stdout);
    CHECK(poll(&p, 1, 0) == 0);
    CHECK(poll(&p, 1, 10) == 0);
    CHECK(poll(&p, 1, 20000) == 1 && p.revents & POLLRDNORM);
    CHECK(read(0, &c, 1) == 1 && c == 'a');
    CHECK(read(0, &c, 1) == 1 && c == 'b');
    CHECK(read(0, &c, 1) == 0);
    return 0;
}
