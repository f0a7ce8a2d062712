/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command loop of the resident shell. */
#ifndef RESIDENT_H
#define RESIDENT_H

/* Before reader_loop. Returns only in a shell that is not resident. */
void resident_loop (void);

/* shell_execve; but `exec command` in the resident shell itself runs the
 * command as a child, whose end is the end of the command. */
int resident_execve (char *command, char **args, char **env);

/* For a script without #!: returns only in a shell that is not resident, which
 * then runs it by a jump into its own main. */
void resident_script (char **args, char **env);

#endif
