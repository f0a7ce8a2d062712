/* Records: the durable state of a sandbox as a map from keys to values.
 *
 * A key begins with its type. Numbers are big-endian, in values too, so that
 * keys sort by them. Records describe the difference from the root image and
 * the frozen shell. In the order of keys, each record comes after those that it
 * depends on: facts, inodes, then names and blocks.
 *
 *   a NAME        a fact: see RECORD_FACTS
 *   f fd          an open file of the shell
 *   h number      a command of the history
 *   i inode       its attributes
 *   n inode NAME  a name in a directory; empty: the image's name is removed
 *   p page        of the shell's memory, without zeros at its end
 *   u inode       its extended attributes: see struct record_attr; empty: the
 *                 image's attributes are removed
 *   w inode       directory and name of a recorded inode in the image; empty:
 *                 unknown by now. Used in messages only
 *   x inode block of a file or the target of a symbolic link: its bytes, and
 *                 zeros after them. Empty: the block was allocated and never
 *                 written; in an inode of the image: it is a hole, where the
 *                 image has a block
 *
 * Inode numbers contain the number of their mount; 0 is the root. The numbers
 * of the image's inodes are never reused: properties of these inodes that are
 * not recorded are those of the image. Link counts are not recorded but
 * computed: an inode without a name does not exist. */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first byte of a key. The values are in files of users, and sort as the
 * comment above says: a new type must sort after those that it depends on. */
enum record_type {
    RECORD_FACT = 'a',
    RECORD_FILE = 'f',
    RECORD_COMMAND = 'h',
    RECORD_INODE = 'i',
    RECORD_NAME = 'n',
    RECORD_PAGE = 'p',
    RECORD_ATTRS = 'u',
    RECORD_PLACE = 'w',
    RECORD_BLOCK = 'x',
};

enum {
    /* Limits of well-formed records. Stores contain records up to these limits,
     * so they may grow but not shrink. */
    RECORD_VERSION = 1,
    RECORD_KEY_MAX = 264,
    RECORD_BLOCK_BYTES = 4096,
    RECORD_PAGE_BYTES = 1024,
    RECORD_COMMAND_MAX = 1 << 20,
    RECORD_PATCH_MAX = 4096,
    /* of any value; usual values are far smaller */
    RECORD_VALUE_MAX = 16 << 20,
    RECORD_ATTRS_MAX = 65535, /* of all attributes of an inode */
    RECORD_FD_MAX = 65536,
    RECORD_PAGE_MAX = 1 << 22,
};
#define RECORD_INODE_MAX (UINT64_C(1) << 48) /* and of positions, numbers */
#define RECORD_BYTES_MAX (UINT64_C(1) << 48) /* of a file */
#define RECORD_LINK_MAX  4095

/* Facts: the name, the minimum and maximum length of the value, and whether the
 * fact is worthless without the memory of the shell.
 *
 * version is RECORD_VERSION. image and module are the BLAKE2b hashes of the
 * root image and of the shell's program. shell is a struct record_shell. task
 * contains the signal actions in the form of the same program, and rlimits the
 * limits. patch contains the changes in pages since they were recorded.
 * processes lists the processes that ran, which a copy of the state cannot
 * have. script is the shell as a script, as in an export. */
#define RECORD_FACTS(F)                 \
    F(version, 4, 4, false)             \
    F(image, 32, 32, false)             \
    F(module, 32, 32, false)            \
    F(shell, 28, 28, true)              \
    F(task, 1, 4096, true)              \
    F(rlimits, 256, 256, true)          \
    F(patch, 1, RECORD_PATCH_MAX, true) \
    F(processes, 1, 4096, false)        \
    F(script, 1, RECORD_VALUE_MAX, false)

enum record_fact {
#define F(NAME, MIN, MAX, IS_SHELLS) FACT_##NAME,
    RECORD_FACTS(F)
#undef F
        FACT_COUNT
};

/* A key in parts. Members that a type does not have are 0. */
struct record_key {
    enum record_type type;
    uint32_t mount; /* of inode */
    uint64_t inode; /* of a name: its directory */
    uint64_t index; /* fd, number of the command, page, block */
    const char *name;
    size_t name_len;
};

/* The attributes of an inode; times are nanoseconds since 1970. */
struct record_inode {
    uint32_t mode, uid, gid;
    uint64_t size; /* of files and symbolic links */
    int64_t atime_ns, mtime_ns, ctime_ns;
};

/* The target of a name in a directory. */
struct record_name {
    uint64_t inode; /* 0: removed */
    uint64_t seq;   /* position in the order of the directory */
};

/* The position of an inode in the root image, so that a message about a damaged
 * record can name a path. */
struct record_place {
    uint64_t dir;     /* 0: unknown */
    const char *name; /* of record_place_get: points into the value */
    size_t name_len;
};

/* An open file of the shell, to be opened again when a session is resumed. */
struct record_file {
    uint32_t flags; /* of open */
    bool cloexec;
    uint32_t same_as; /* a lower fd of the same open file, or 0 */
    uint32_t mount;
    uint64_t inode; /* 0: cannot be opened again */
    bool is_closed; /* with inode 0: stays closed, else it is /dev/null */
    uint64_t pos;
};

/* The shell without its memory, which is in the records of pages. */
struct record_shell {
    uint32_t status; /* $? */
    bool has_env;    /* the variables of the sandbox's options are set */
    /* The working folder was removed; then cwd is its parent, or 0. */
    bool cwd_is_removed;
    uint64_t memory_bytes;
    uint32_t cwd_mount;
    uint64_t cwd;
};

/* Writes a well-formed key and returns its length. */
size_t record_key_put(const struct record_key *k, uint8_t ret[RECORD_KEY_MAX]);
/* Reads a key; ret->name points into `key`. -EINVAL: not a key, or a number is
 * out of range. */
int record_key_get(const void *key, size_t len, struct record_key *ret);

/* Returns the key of a fact; its name is a constant. */
struct record_key record_fact_key(enum record_fact f);
/* Returns the fact of a key, or FACT_COUNT if the key is not that of a known
 * fact. */
enum record_fact record_fact_of(const struct record_key *k);
/* True for a fact that is worthless without the memory of the shell. */
bool record_is_shells(enum record_fact f);

/* Structured values. *_put returns the number of bytes written; *_get returns
 * -EINVAL for values that no sandbox could have. */
enum { RECORD_FIXED_MAX = 44 };
size_t record_inode_put(const struct record_inode *r,
                        uint8_t ret[RECORD_FIXED_MAX]);
int record_inode_get(const void *value, size_t len, struct record_inode *ret);
size_t record_name_put(const struct record_name *r,
                       uint8_t ret[RECORD_FIXED_MAX]);
int record_name_get(const void *value, size_t len, struct record_name *ret);
enum { RECORD_PLACE_BYTES = 8 + 255 };
size_t record_place_put(const struct record_place *r,
                        uint8_t ret[RECORD_PLACE_BYTES]);
int record_place_get(const void *value, size_t len, struct record_place *ret);
size_t record_file_put(const struct record_file *r,
                       uint8_t ret[RECORD_FIXED_MAX]);
int record_file_get(const void *value, size_t len, struct record_file *ret);
size_t record_shell_put(const struct record_shell *r,
                        uint8_t ret[RECORD_FIXED_MAX]);
int record_shell_get(const void *value, size_t len, struct record_shell *ret);

/* One extended attribute of an inode. A record contains all attributes one
 * after the other: the length of the name in 1 byte, that of the value in 2
 * bytes, then both. */
struct record_attr {
    const char *name; /* 1 to 255 bytes without a NUL */
    size_t name_len;
    const void *value;
    size_t value_len; /* at most RECORD_ATTRS_MAX */
};
enum { RECORD_ATTR_HEAD = 3 };
/* Returns the number of bytes written. */
size_t record_attr_put(const struct record_attr *a, uint8_t *ret);
/* Reads the attribute at *at and advances *at. Returns 1, or 0 at the end of
 * the `len` bytes. -EINVAL. */
int record_attr_get(const uint8_t *bytes, size_t len, size_t *at,
                    struct record_attr *ret);

/* Checks the form of one record; value NULL means that it is removed. -EINVAL.
 */
int record_check(const void *key, size_t key_len, const void *value,
                 size_t len);

/* Receives records; `value` NULL means that the record is removed. A result
 * other than 0 stops the sender. */
struct record_sink {
    int (*put)(void *arg, const void *key, size_t key_len, const void *value,
               size_t len);
    void *arg;
};
/* Writes the key and passes the record to the sink. Returns its result. */
int record_send(const struct record_sink *to, const struct record_key *k,
                const void *value, size_t len);

/* --- on a stream: a head, the key, the value */

enum record_op {
    RECORD_PUT = 'P',
    RECORD_DELETE = 'D', /* no value */
    RECORD_END = 'E',    /* no key; the value is a number of 8 bytes: of the
                          * commit, or for a worker 0 or RECORD_BROKEN_OFF */
};

enum { RECORD_HEAD_BYTES = 8, RECORD_END_BYTES = 8 };
enum { RECORD_BROKEN_OFF = 1 }; /* the received state is incomplete */

/* The head of a frame. Frames follow each other without any separator. */
struct record_head {
    enum record_op op;
    uint16_t key_len;
    uint32_t value_len;
};

void record_head_put(const struct record_head *h,
                     uint8_t ret[RECORD_HEAD_BYTES]);
/* Reads the head of a frame. -EINVAL: an unknown op, or invalid lengths for it.
 */
int record_head_get(const uint8_t head[RECORD_HEAD_BYTES],
                    struct record_head *ret);
/* Write and read the number in the value of a RECORD_END. */
void record_end_put(uint64_t number, uint8_t ret[RECORD_END_BYTES]);
uint64_t record_end_get(const uint8_t value[RECORD_END_BYTES]);

#endif
