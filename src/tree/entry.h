/* Files as an archive has them.
 *
 * A tree is made from the entries of a source (image.h, layer.h), and its
 * difference to another goes to a sink. Sources and sinks belong to the caller,
 * who knows the format of the archive: see host/tar.h. */
#ifndef TREE_ENTRY_H
#define TREE_ENTRY_H

#include "tree/xattr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a file that has bytes, in bytes from its beginning. */
struct extent {
    uint64_t at, len;
};

/* A file in an archive. All pointers belong to the source, or to the caller of
 * the sink, and are valid until its next call. */
struct entry {
    const char *path; /* NULL: it cannot be read */
    const char
        *hardlink;      /* the path of the file that it names again, or NULL */
    const char *target; /* of a symbolic link, else NULL */
    uint32_t mode;      /* type and permissions */
    int64_t uid, gid, size;
    int64_t mtime_s, mtime_ns;
    const struct xattrs *xattrs; /* of files and directories; NULL: none */
    /* Sinks: a file with large holes, and where it has bytes. */
    bool is_sparse;
    const struct extent *data;
    size_t n_data;
    uint64_t offset; /* sources: the position in the archive, for messages */
};

/* A part of a file's content. */
struct piece {
    const void *p;
    size_t len;
    uint64_t at;
    bool is_lasting; /* the memory outlives all trees, and stays unchanged */
};

/* Errors of a source are -ENOMEM, -ENOSPC, and -EINVAL with the reason in a
 * struct image_error. The owner passes the same struct to the reader of the
 * source. */
struct entry_source {
    /* Begins, or begins again, at the first entry. */
    int (*rewind)(struct entry_source *s);
    /* 1 and the next entry, which is valid until the next call; 0: the end. */
    int (*next)(struct entry_source *s, struct entry *ret);
    /* 1 and the next part of the current entry's content; 0: the end. Holes are
     * left out. */
    int (*read)(struct entry_source *s, struct piece *ret);
};

/* Both return 0 or -errno. */
struct entry_sink {
    int (*begin)(struct entry_sink *s, const struct entry *e);
    /* The bytes of the entry, without its holes, in order. */
    int (*write)(struct entry_sink *s, const void *p, size_t len);
};

#endif
