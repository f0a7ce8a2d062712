/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command loop of the resident shell.
 *
 * Started with WASMSAND_RESIDENT in its environment, the shell initialises
 * itself and gives its memory to the host in sys.next, which never comes back.
 * Each command enters through wasmsand_resume: it asks the kernel for the text,
 * executes it, and calls sys.next again with the status. An exit of the shell
 * ends only the command. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "bashansi.h"
#include "shell.h"
#include "flags.h"
#include "trap.h"
#include "execute_cmd.h"
#include "jobs.h"
#include "bashhist.h"
#include "builtins/common.h"
#include <readline/history.h>
#include "resident.h"

#include <wasmsand.h>

#include <sys/syscall.h>

#define SYS_SHELL_COMMAND 1000
#define SYS_SHELL_MEMORY 1002
#define COMMAND_IS_FRESH (1 << 30)
#define COMMAND_IS_USERS (1 << 29)
#define HISTORY_MAX 500

extern int indirection_level, parse_and_execute_level, loop_level;
extern int continuing, breaking, funcnest, executing_list;
extern int comsub_ignore_return, return_catch_flag, wait_intr_flag;
extern int line_number, executing, expand_aliases, expaliases_flag;
extern int subshell_environment;
extern time_t shell_start_time;
extern struct timeval shellstart;
extern procenv_t top_level;
extern struct procchain procsubs;
extern void seedrand PARAMS((void));
extern void seedrand32 PARAMS((void));

int is_resident;

/* Gives a variable that may be read-only another value. */
static void
set_variable (const char *name, char *value)
{
  SHELL_VAR *v = find_variable (name);
  int was_readonly = v && readonly_p (v);

  if (was_readonly)
    VUNSETATTR (v, att_readonly);
  v = bind_variable (name, value, 0);
  if (v && was_readonly)
    VSETATTR (v, att_readonly);
}

/* The shell was frozen as uid 1000, in that user's home folder. */
static void
take_user (void)
{
  char number[INT_STRLEN_BOUND (uid_t) + 1];

  if (current_user.uid == getuid ())
    return;
  current_user.uid = getuid ();
  current_user.gid = getgid ();
  current_user.euid = geteuid ();
  current_user.egid = getegid ();
  FREE (current_user.user_name);
  FREE (current_user.shell);
  FREE (current_user.home_dir);
  current_user.user_name = current_user.shell = current_user.home_dir = 0;
  get_current_user_info ();
  set_variable ("UID", inttostr (current_user.uid, number, sizeof number));
  set_variable ("EUID", inttostr (current_user.euid, number, sizeof number));
  set_variable ("USER", current_user.user_name);
  set_variable ("LOGNAME", current_user.user_name);
  set_variable ("HOME", current_user.home_dir);
  set_working_directory (current_user.home_dir);
  set_variable ("PWD", current_user.home_dir);
}

/* A process that is not there any more counts as killed. */
static int
end_process (PROCESS *p)
{
  if (!PALIVE (p))
    return 0;
  p->running = PS_DONE;
  p->status = SIGKILL;
  coproc_pidchk (p->pid, p->status);
  return 1;
}

/* Of the jobs that a shell had, a copy of it has the table, but no process:
 * they were killed. `jobs` says so, once; J_GONE keeps other commands from
 * saying it before, and the jobs from going when their pids are used again. */
static void
end_jobs (void)
{
  int i, n;
  PROCESS *p;

  for (p = procsubs.head; p; p = p->next)
    end_process (p);
  for (i = 0; i < js.j_jobslots; i++)
    {
      if (jobs[i] == 0)
	continue;
      for (n = 0, p = jobs[i]->pipe;;)
	{
	  n += end_process (p);
	  p = p->next;
	  if (p == jobs[i]->pipe)
	    break;
	}
      if (n == 0)
	continue;
      jobs[i]->state = JDEAD;
      jobs[i]->flags &= ~J_NOTIFIED;
      jobs[i]->flags |= J_GONE;
      js.j_ndead++;
      js.c_reaped += n;
    }
  js.c_living = 0;
}

/* Sets the state that must differ from sandbox to sandbox. */
static void
start_afresh (void)
{
  take_user ();
  end_jobs ();
  seedrand ();
  seedrand32 ();
  gettimeofday (&shellstart, 0);
  shell_start_time = shellstart.tv_sec;
}

/* A trap that was left by a jump may run again; but one that ends every command
 * before it begins would do so for ever. */
static void
end_traps (void)
{
  int sig;

  if (signal_in_progress (DEBUG_TRAP))
    restore_default_signal (DEBUG_TRAP);
  for (sig = 0; sig < BASH_NSIG; sig++)
    run_trap_cleanup (sig);
  running_trap = 0;
}

/* After a jump out of the middle of a command. */
static void
clean_up (void)
{
  while (parse_and_execute_level)
    parse_and_execute_cleanup (-1);
  reset_local_contexts ();
  run_unwind_protects ();
  loop_level = continuing = breaking = funcnest = 0;
  executing_list = comsub_ignore_return = return_catch_flag = 0;
  wait_intr_flag = 0;
  indirection_level = 0;
  end_traps ();
  stop_making_children ();
  restore_sigmask ();
  reset_parser ();
}

/* exit, set -e and fatal errors: EXIT traps run, once. */
static void
end_by_exit (int code)
{
  if (code == DISCARD && last_command_exit_value == 0)
    last_command_exit_value = EXECUTION_FAILURE;
  clean_up ();
  if (code == EXITPROG || code == EXITBLTIN || code == ERREXIT)
    {
      last_command_exit_value = run_exit_trap ();
      clean_up ();
      restore_default_signal (EXIT_TRAP);
    }
}

static void
run_command (char *text)
{
  volatile int code = setjmp_nosigs (top_level);

  if (code != NOT_JUMPED)
    {
      if (subshell_environment)
	exit_shell (last_command_exit_value);
      end_by_exit (code);
      return;
    }
  FREE (the_printed_command_except_trap);
  the_printed_command_except_trap = 0;
  line_number = 0;
  executing = 1;
  read_but_dont_execute = 0;
  last_command_exit_value
    = parse_and_execute (text, "bash", SEVAL_NOHIST | SEVAL_RESETLINE);
}

static char *
next_command (int *ret_is_users)
{
  long n = syscall (SYS_SHELL_COMMAND, 0, 0);
  int is_users;
  char *text;

  if (n < 0)
    exit_shell (EXECUTION_FAILURE);
  if (n & COMMAND_IS_FRESH)
    start_afresh ();
  is_users = n & COMMAND_IS_USERS;
  n &= COMMAND_IS_USERS - 1;
  text = xmalloc (n + 1);
  syscall (SYS_SHELL_COMMAND, text, n);
  text[n] = '\0';
  if (is_users && enable_history_list)
    bash_add_history (text);
  *ret_is_users = is_users;
  return text;
}

/* Returns the memory that the last command has freed to the host. */
static void
trim_memory (void)
{
  size_t end = wasmsand_trim ();

  if (end)
    syscall (SYS_SHELL_MEMORY, end);
}

__attribute__ ((export_name ("wasmsand_resume"))) void
wasmsand_resume (void)
{
  int is_users;
  char *text = next_command (&is_users);
  ARRAY *statuses = is_users ? 0 : save_pipestatus_array ();

  run_command (text);
  if (statuses)
    restore_pipestatus_array (statuses);
  executing = 0;
  fflush (stdout);
  fflush (stderr);
  trim_memory ();
  wasmsand_next (last_command_exit_value);
}

void
resident_loop (void)
{
  if (getenv ("WASMSAND_RESIDENT") == 0)
    return;
  unbind_variable ("WASMSAND_RESIDENT");
  is_resident = expand_aliases = expaliases_flag = 1;
  enable_history_list = remember_on_history = 1;
  using_history ();
  stifle_history (HISTORY_MAX);
  indirection_level = 0;
  wasmsand_next (0);
}

void
resident_script (char **args, char **env)
{
  if (!is_resident)
    return;
  execve ("/bin/bash", args, env);
  exit (EX_NOEXEC);
}

void
resident_exec (void)
{
  sigset_t set, oset;
  pid_t pid;
  int status = EXECUTION_FAILURE << 8;

  if (!is_resident || subshell_environment)
    return;
  fflush (stdout);
  fflush (stderr);
  BLOCK_SIGNAL (SIGCHLD, set, oset);
  pid = fork ();
  if (pid < 0)
    sys_error ("fork");
  while (pid > 0 && waitpid (pid, &status, 0) < 0)
    ;
  UNBLOCK_SIGNAL (oset);
  if (pid == 0)
    {
      subshell_environment |= SUBSHELL_FORK;
      return;
    }
  last_command_exit_value
    = WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
  jump_to_top_level (FORCE_EOF);
}

void
resident_exit (int status)
{
  if (!is_resident || subshell_environment)
    exit_shell (status);
  last_command_exit_value = status;
  jump_to_top_level (EXITPROG);
}
