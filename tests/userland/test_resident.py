"""The shell that stays: state, ends of commands, limits, copies."""


def test_state_lives_on(resident):
    resident.run("x=1; cd /tmp; f() { echo f$1; }; alias a='echo alias'; umask 027")
    assert resident.out("echo $x $PWD; f 2; a; umask") == \
        "1 /tmp\nf2\nalias\n0027\n"
    resident.run("set -o pipefail; shopt -s globstar; arr=(a b); declare -A m=([k]=v)")
    assert resident.run("false | true").status == 1
    assert resident.out("echo ${arr[1]} ${m[k]}; shopt -q globstar && echo on") == \
        "b v\non\n"


def test_status_and_streams(resident):
    answer = resident.run("echo out; echo err >&2; (exit 9)")
    assert (answer.status, answer.out, answer.err) == (9, "out\n", "err\n")
    assert resident.run("").status == 0
    assert resident.run("nope").status == 127
    assert "nope: command not found" in resident.run("nope").err


def test_exit_ends_the_command_only(resident):
    answer = resident.run("x=1; trap 'echo bye' EXIT; exit 5; echo no")
    assert (answer.status, answer.out) == (5, "bye\n")
    assert resident.out("echo $x; trap") == "1\n"


def test_exit_traps_run_each_time(resident):
    for i in range(3):
        answer = resident.run(f"trap 'echo bye {i}' EXIT; exit {i}")
        assert (answer.status, answer.out) == (i, f"bye {i}\n")
    assert resident.out("(trap 'echo sub' EXIT; true)") == "sub\n"
    assert resident.run("trap 'echo $BASH_COMMAND' EXIT; exit 3").out == "exit 3\n"


def test_traps_that_end_a_command_run_again(resident):
    for _ in range(2):
        assert resident.run("trap 'exit 5' ERR; false; echo no").status == 5
        assert resident.run("trap 'exit 6' USR1; kill -USR1 $$; echo no").status == 6
        assert resident.out("trap 'echo d' DEBUG; :; trap - DEBUG") == "d\nd\n"
    assert resident.run("trap 'exit 7' DEBUG; echo no").status == 7
    assert resident.out("echo on") == "on\n"


def test_an_error_in_a_function_leaves_the_shell(resident):
    resident.run("set -- z; set -e; f() { local v=1; set -- a b; false; }; f")
    answer = resident.run("set +e; echo $# $1 $v ${#FUNCNAME[@]}; nope")
    assert (answer.out, answer.err) == ("1 z 0\n", "bash: line 1: nope: command not found\n")


def test_errors_end_the_command_only(resident):
    resident.run("x=1")
    assert resident.run("set -e; false; echo no").status == 1
    assert resident.run("set +e; echo ${nope:?missing}; echo no").status != 0
    answer = resident.run("for")
    assert answer.status == 2 and "syntax error" in answer.err
    assert resident.out("echo $x") == "1\n"
    assert resident.run("f() { while :; do return 4; done; }; f").status == 4
    assert resident.run("f() { exit 6; }; while :; do f; done").status == 6
    assert resident.out("echo $x") == "1\n"


def test_exec_runs_a_child(resident):
    answer = resident.run("x=2; exec echo replaced; echo no")
    assert (answer.status, answer.out) == (0, "replaced\n")
    assert resident.run("exec sh -c 'exit 7'").status == 7
    assert resident.out("echo $x") == "2\n"


def test_exec_leaves_the_shell_as_it_was(resident):
    resident.run("trap 'echo trapped' USR1")
    assert resident.out("exec bash -c 'echo $SHLVL'") == "1\n"
    assert resident.out("echo $SHLVL; kill -USR1 $$") == "1\ntrapped\n"


def test_exec_that_fails_ends_the_command_only(resident):
    answer = resident.run("x=1; trap 'echo bye' EXIT; exec nope; echo no")
    assert (answer.status, answer.out, answer.err) == \
        (127, "bye\n", "bash: line 1: exec: nope: not found\n")
    assert resident.out("echo $? $x") == "127 1\n"
    answer = resident.run("x=2; exec /etc/passwd; echo no")
    assert (answer.status, answer.out) == (126, "")
    assert "exec: /etc/passwd: cannot execute: Permission denied" in answer.err
    assert resident.out("echo $? $x") == "126 2\n"
    assert resident.out("shopt -s execfail; exec nope; echo on") == "on\n"


def test_trace_is_that_of_a_shell(resident):
    assert resident.run("set -x; echo $(echo a)").err == "++ echo a\n+ echo a\n"


def test_kill_rolls_back(resident):
    resident.run("x=1; cd /tmp; exec 5>/tmp/five")
    assert resident.run("x=2; cd /; exec 5>&-; kill -9 $$").status == 137
    assert resident.out("echo $x $PWD; pwd -P; echo kept >&5; cat /tmp/five") == \
        "1 /tmp\n/tmp\nkept\n"


def test_time_limit(resident):
    resident.run("x=1")
    resident.tell(":timeout 300")
    assert resident.run("x=2; while :; do :; done").status == 124
    assert resident.run("setsid sleep 100 & nohup sleep 100 & sleep 100").status == 124
    resident.tell(":timeout 0")
    assert resident.out("echo $x; ps -ef | grep -c '[s]leep 100'") == "1\n0\n"


def test_background_jobs_go_on(resident):
    resident.run("mkfifo /tmp/go; (read x < /tmp/go; echo late) & echo $! > /tmp/pid")
    resident.run("sleep 1000 &")
    assert resident.out("jobs").count("Running") == 2
    answer = resident.run("echo > /tmp/go; wait $(cat /tmp/pid); echo waited")
    assert answer.out == "waited\n"
    assert "late\n" in answer.background
    assert resident.run("kill %2; wait %2").status == 143


def test_fork_carries_everything(resident):
    resident.run("x=1; cd /tmp; echo a > file; f() { echo f; }; exec 6<file")
    resident.tell(":fork")
    assert resident.out("echo $x $PWD; f; cat file; cat <&6") == "1 /tmp\nf\na\na\n"
    resident.run("x=2; echo b > file; touch new")
    resident.tell(":back")
    assert resident.out("echo $x; cat file; ls new 2>&1; cat <&6") == \
        "1\na\nls: cannot access 'new': No such file or directory\na\n"


def test_random_differs_between_copies(resident):
    resident.tell(":fork")
    first = resident.out("echo $RANDOM $RANDOM $RANDOM")
    resident.tell(":back")
    resident.tell(":fork")
    assert resident.out("echo $RANDOM $RANDOM $RANDOM") != first


def test_any_shell_code(resident):
    resident.run("cat > /tmp/s <<'EOF'\n#!/bin/bash\necho script $1\nEOF\nchmod +x /tmp/s")
    assert resident.out("/tmp/s 1") == "script 1\n"
    assert resident.out("cat <(echo sub); echo $(printf '%s' {1..3})") == "sub\n123\n"
    assert resident.out("coproc tr a-z A-Z; echo hi >&${COPROC[1]}; "
                        "eval \"exec ${COPROC[1]}>&-\"; cat <&${COPROC[0]}") == "HI\n"
    assert resident.out("mapfile -t l < <(seq 3); echo ${#l[@]}; "
                        "[[ abc =~ b(.) ]] && echo ${BASH_REMATCH[1]}") == "3\nc\n"
    assert resident.out("printf -v v %03d 7; echo $v; false | true; "
                        "echo ${PIPESTATUS[@]}") == "007\n1 0\n"
    assert resident.out("trap 'echo usr1' USR1; kill -USR1 $$; echo after") == \
        "usr1\nafter\n"
    assert resident.run("read -t 0.05 line < <(sleep 1000)").status > 128
    assert len(resident.out("echo $(head -c 300000 /dev/zero | tr '\\0' x)")) == 300001


def test_output_is_bounded(resident):
    answer = resident.run("head -c 3000000 /dev/zero | tr '\\0' y; echo end >&2")
    assert (answer.status, len(answer.out), answer.err) == (0, 1 << 20, "end\n")


def test_input_is_empty(resident):
    assert resident.run("cat; read x").status == 1
