/* The protocol between the host and the agent in the guest, on one stream of
 * bytes in each direction. A message is a struct agent_head and `len` bytes.
 *
 * The host sends one request at a time, and waits for its last message, which
 * the table below names. AGENT_KILL and AGENT_STDIN may come during a run. */
#ifndef V86_IMAGE_AGENT_H
#define V86_IMAGE_AGENT_H

#include <stdint.h>

/* With its head, a message of the agent fits into one write to its port, which
 * Linux cuts at 32 KiB: a machine is never copied between two halves. */
enum { AGENT_DATA_MAX = (32 << 10) - 8, AGENT_SEED_BYTES = 32 };

enum agent_message {
    /* To the agent. */
    AGENT_HELLO = 1, /* struct agent_hello; ends with AGENT_RESULT */
    AGENT_RUN,       /* flags (uint32_t), then a script; AGENT_EXIT */
    AGENT_STDIN,     /* bytes; no bytes are the end */
    AGENT_KILL,      /* ends the run with SIGKILL */
    AGENT_WRITE,     /* mode (uint32_t), then a path; AGENT_RESULT */
    AGENT_DATA,      /* bytes of the file that AGENT_WRITE has opened */
    AGENT_CLOSE,     /* closes it; AGENT_RESULT */
    AGENT_READ,      /* a path; AGENT_CONTENT and AGENT_RESULT */
    AGENT_SYNC,      /* AGENT_RESULT */
    AGENT_TERMINAL,  /* starts a shell on the serial port; AGENT_RESULT */
    /* Files. A flag or mode (uint32_t) comes first, and AGENT_RESULT last. Two
     * paths have a NUL between them. */
    AGENT_MKDIR,   /* mode, path */
    AGENT_REMOVE,  /* 1: with all contents; path */
    AGENT_CHMOD,   /* mode, path */
    AGENT_RENAME,  /* 0, both paths */
    AGENT_SYMLINK, /* 0, contents and path of the link */
    AGENT_STAT,    /* 1: follow a link; path. AGENT_CONTENT: agent_stat */
    AGENT_LIST,    /* 0, path. AGENT_CONTENT: agent_stat and a name, each */
    /* Parts of files: struct agent_part, then a path. */
    AGENT_WRITE_PART, /* as AGENT_WRITE */
    AGENT_READ_PART,  /* as AGENT_READ */
    /* The disk has all changes, and gets no further ones until AGENT_THAW. */
    AGENT_FREEZE, /* AGENT_RESULT */
    AGENT_THAW,   /* AGENT_RESULT */

    /* To the host. */
    /* The last message of a request. After the number below, it has the KiB
     * of RAM that are in use (uint32_t). */
    AGENT_RESULT = 64, /* 0 or an errno (int32_t) */
    AGENT_STDOUT,
    AGENT_STDERR,
    AGENT_WANTS_STDIN, /* one AGENT_STDIN may follow */
    AGENT_EXIT,        /* as AGENT_RESULT: exit status (int32_t), 128 + n after
                        * signal n */
    AGENT_CONTENT,

    /* To the host, from the process that runs the machine: the machine has
     * stopped, for the reason in the text. */
    AGENT_DIED = 128,
};

enum { AGENT_RUN_STDIN = 1 }; /* the run has a standard input */
/* Beside the mode of AGENT_MKDIR: create missing parents, too, and accept a
 * folder that exists. */
enum { AGENT_PARENTS = 1 << 16 };
/* In `flags` of AGENT_WRITE_PART, beside a mode and AGENT_PARENTS. */
enum {
    AGENT_HAS_MODE = 1 << 17, /* also of a file that exists */
    AGENT_APPEND = 1 << 18,
    AGENT_AT = 1 << 19, /* writes at `offset`, and keeps the rest */
};

struct agent_head {
    uint32_t type, len;
};

struct agent_part {
    uint64_t offset, len; /* len: the maximum that is read */
    uint32_t flags;
    uint32_t reserved;
};

struct agent_stat {
    uint64_t size;
    int64_t mtime_ms;
    uint32_t mode; /* with the type, as Linux has it */
    uint32_t reserved;
};

struct agent_hello {
    uint32_t wall_s, wall_ns;
    uint8_t seed[AGENT_SEED_BYTES];
};

#endif
