/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command loop of the resident shell. */
#ifndef RESIDENT_H
#define RESIDENT_H

/* Is this shell, or the one it was forked from, a resident one? */
extern int is_resident;

/* Before reader_loop. Returns only in a shell that is not resident. */
void resident_loop (void);

/* `exec command` of the resident shell itself: a child goes on with it, whose
 * end is the end of the command. Returns elsewhere, and in the child. */
void resident_exec (void);

/* exit_shell; ends only the command in the resident shell itself. */
void resident_exit (int status);

/* For a script without #!: returns only in a shell that is not resident, which
 * then runs it by a jump into its own main. */
void resident_script (char **args, char **env);

#endif
