/* Durable state: copies the changed blocks of a machine's disk, and keeps those
 * of the first machine.
 *
 * Problem: an answer promises that the changes of its request are kept, but the
 * guest has them in its cache, and the disk is in another process.
 *
 * Idea: before the answer is sent, the agent freezes the guest's file system,
 * which writes everything to the disk. The machine's process sends the blocks
 * that have changed since the last time, and the agent thaws the file system.
 * The copy is therefore that of a file system at rest. */
#ifndef V86_SAVE_H
#define V86_SAVE_H

#include "v86/state.h"
#include "v86/zygote.h"

struct v86_job;
struct v86_server;

/* A copy in progress; a member of its job. */
struct v86_copy {
    enum zygote_request what;
    /* Gets each block, and then the result: 0, or an errno. */
    void (*on_block)(struct v86_job *j, const struct zygote_block *b);
    void (*on_done)(struct v86_job *j, int error);
};

/* Copies blocks of the job's machine. on_done answers the call. */
void v86_copy_begin(struct v86_job *j, const struct v86_copy *copy);

/* The receiver of the changes: the file of --disk-overlay, or the supervisor of
 * a session. The file has one commit for each request that changed something.
 * From time to time, it is replaced by a file with one commit. */
struct v86_saver {
    const char *path; /* of the file; NULL: none */
    char *new_path;   /* of a file that will replace it */
    bool is_session;
    bool is_held;    /* the session's state was not loaded: nothing is sent */
    bool was_loaded; /* the zygote has booted from a state */
    int hfd;
    bool is_all; /* the next commit has all blocks, in a new file */
    uint64_t n_bytes, n_commits;
    size_t n_blocks; /* of the commit in progress */
    /* Of a session, a bit for each block: the supervisor has it; it is in the
     * commit of all blocks. */
    uint64_t *saved, *seen;
    size_t n_words;
    struct buf out;
};

/* Opens the file, locks it, and applies it to the disk. Returns 0, or -errno
 * with a text. */
int v86_saver_open(struct v86_saver *s, const char *path, struct disk *d,
                   char error[PUMP_ERROR_BYTES]);
/* Sends the changes to a supervisor. Returns 0 or -ENOMEM. */
int v86_saver_begin_session(struct v86_saver *s, int hfd, const struct disk *d);
/* The session's state is that of the disk, which becomes clean. */
void v86_saver_note_loaded(struct v86_saver *s, struct disk *d);

/* Boots the server's zygote again, from the changes that the file has. Returns
 * 0 or -errno. */
int v86_saver_restart(struct v86_server *server);
/* Begins to keep the changes of a job whose answer is complete, and sends the
 * answer later. Returns false if there is nothing to keep. */
bool v86_saver_begin(struct v86_saver *s, struct v86_job *j);

#endif
