/* The command `fsck`: verifies a store of sessions that no supervisor uses. */
#ifndef SUPERVISOR_FSCK_H
#define SUPERVISOR_FSCK_H

/* `words` are the arguments, NULL-terminated. Status 0: no findings, or all
 * were repaired. 1: findings. 2: wrong arguments. 125: the store could not be
 * checked. */
int fsck_main(char **words);

#endif
