/* The command `fsck`: verifies a store of sessions that nobody uses. */
#ifndef SUPERVISOR_FSCK_H
#define SUPERVISOR_FSCK_H

/* The words after the command; ends with NULL. Status 0: nothing was found, or
 * all of it was repaired; 1: something was found; 2: the words are wrong; 125:
 * the store could not be checked. */
int fsck_main(char **words);

#endif
