/* Only the low eight bits of an exit status reach the parent. */
#include "proc.h"

int
main(int argc, char **argv)
{
    static const int codes[] = {0, 1, 42, 127, 128, 255, 256, 511, -1, 0x1234};
    siginfo_t si;
    unsigned i;
    pid_t pid;
    int st;

    if (argc > 2)
        _exit(atoi(argv[1]));
    if (argc > 1)
        return atoi(argv[1]);
    for (i = 0; i < sizeof codes / sizeof *codes; i++) {
        st = wait_status(SPAWN(num(codes[i])));
        CHECK_EQ(st, (codes[i] & 255) << 8);
        pid = SPAWN(num(codes[i]), "_exit");
        OK(waitid(P_PID, (id_t)pid, &si, WEXITED));
        CHECK_EQ(si.si_status, codes[i] & 255);
    }
    return 0;
}
