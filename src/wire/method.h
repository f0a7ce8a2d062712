/* The words of the tables of methods: rpc/methods.def, which the server and the
 * supervisor read, and the supervisor's sessions.def. */
#ifndef WIRE_METHOD_H
#define WIRE_METHOD_H

enum method_flags {
    AT_ONCE = 1,
    EARLY = 2,
    NO_SANDBOX = 4,
    ROOT = 8,
    LINE = 16,
    BESIDE = 32,
    READS = 64,
    URGENT = 128,
    NO_SESSION = 256, /* takes no sessionId */
    ROUTED = 512,     /* the worker of the session serves it */
};

/* Where a method exists. */
enum method_where {
    SERVER = 1,  /* in the server on standard input and output */
    SESSION = 2, /* for clients of the supervisor, in a session */
    WORKER = 4,  /* between the supervisor and its worker */
    ALL = SERVER | SESSION | WORKER,
};

#endif
