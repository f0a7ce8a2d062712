/* Parsers for the kernel's descriptions of cgroups. Nothing here opens files,
 * so all of it is tested and fuzzed with texts. */
#ifndef SUPERVISOR_CGROUP_TEXT_H
#define SUPERVISOR_CGROUP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CGROUP_PATH_BYTES = 512 };

/* Where a hierarchy is mounted. */
struct cgroup_mount {
    int version;                   /* 1 or 2 */
    char root[CGROUP_PATH_BYTES];  /* the group that is visible at `point` */
    char point[CGROUP_PATH_BYTES]; /* unescaped */
};

/* True if `word` is in a list of words, separated by any of `dividers`. */
bool cgroup_text_has_word(const char *list, const char *dividers,
                          const char *word);
/* Finds the number after `key` on a line of its own: "oom_kill 3". */
bool cgroup_text_counter(const char *text, const char *key, uint64_t *ret);
/* Finds the mount of a hierarchy in mountinfo: v1 with this controller, or v2
 * if it is NULL. The first one counts. */
bool cgroup_text_find_mount(const char *mountinfo, const char *controller,
                            struct cgroup_mount *ret);
/* Finds our own group in /proc/self/cgroup, for the same hierarchy. */
bool cgroup_text_find_group(const char *text, const char *controller, char *ret,
                            size_t size);

#endif
