/* Exit statuses of our programs, as env and timeout have them. */
#ifndef BASE_EXIT_H
#define BASE_EXIT_H

enum {
    EXIT_USAGE = 2,        /* the command line or configuration is wrong */
    EXIT_TIMEOUT = 124,    /* the program ran into its time limit */
    EXIT_CANNOT = 125,     /* we failed, not the program */
    EXIT_CANNOT_RUN = 126, /* the program cannot be run */
    EXIT_NOT_FOUND = 127,  /* there is no such program */
    EXIT_SIGNAL = 128,     /* plus its number: a signal ended the program */
};

#endif
