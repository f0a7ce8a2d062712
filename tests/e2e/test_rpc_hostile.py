"""Programs that attack their sandbox, over JSON-RPC. Each ends within its limit
and says why; the sandbox works afterwards, another one does not notice, and the
host's memory stays under a bound. test_rpc_hostile_requests.py has the attacks of
clients."""
import re
import select
import shutil

import pytest

import wasm
from rpc import encode, needs_image
from sandbox import IS_SANITIZED, PROGRAMS

pytestmark = needs_image

LIMITS = {"memoryBytes": 64 << 20, "processes": 16, "fileCount": 5000}
FILE_BYTES = 16 << 20
ENDLESS_MS = 300  # for what must end by its time limit
PATIENT_MS = 60000  # for what must end before

# What the server may take: all that a sandbox may have, what each of its slots keeps
# when it is free, and what the server itself needs: code, image, the other sandbox.
SLOTS, SLOT_MB, SERVER_MB = 2 * LIMITS["processes"], 4, 1200 if IS_SANITIZED else 60
BOUND_MB = (LIMITS["memoryBytes"] + FILE_BYTES >> 20) + SLOTS * SLOT_MB + SERVER_MB

TIMEOUT = "TIMEOUT"
MEMORY = "LIMIT_EXCEEDED memory"
FILES = "LIMIT_EXCEEDED files"
BYTES = "LIMIT_EXCEEDED file_bytes"
PROCESSES = "LIMIT_EXCEEDED processes"
FDS = "LIMIT_EXCEEDED fds"
MANY = f"{MEMORY}|{PROCESSES}"
# How soon memory is full depends on the machine.
HOG = f"{MEMORY}|{TIMEOUT}"
CRASH = "exit 139|exit 134"

ATTACKS = {
    # --- processes
    "bomb of pipes": ("exit 0", "mkfifo /tmp/f; :() { : | : & }; :; read -t 0.3 <> /tmp/f; true"),
    "bomb of subshells": (MANY, "f() { (f) & (f); }; f"),
    "bomb of scripts": (MANY, "echo 'sh /tmp/b & sh /tmp/b' > /tmp/b; sh /tmp/b"),
    "bomb of scripts that name no shell": (MANY, "echo '/tmp/b & /tmp/b' > /tmp/b; chmod +x /tmp/b; /tmp/b"),
    "bomb of exec": (TIMEOUT, "echo 'exec sh /tmp/b' > /tmp/b; exec sh /tmp/b"),
    "bomb of loops": (MANY, "while :; do while :; do :; done & done"),
    "bomb of substitutions": ("exit 0", "f() { echo $(f); }; f"),
    "bomb of pipelines": (MANY, 'x=cat; for i in {1..100}; do x="$x | cat"; done; eval "yes | $x"'),
    "bomb of xargs": (f"{TIMEOUT}|{MANY}", "yes | xargs -P 100 -n 1 sh -c 'sleep 1000'"),
    "bomb of make": (MANY, r"printf 'a:\n\t$(MAKE) -f /tmp/m\n' > /tmp/m; make -f /tmp/m"),
    "bomb of awk's pipes": (MANY, """awk 'BEGIN { while (1) print "x" | "cat #" i++ }'"""),
    "bomb of coprocesses": (MANY, 'for i in {1..1000}; do eval "coproc c$i { cat; }"; done; sleep 1000'),
    "bomb of process substitutions": (MANY, """eval "cat $(yes '<(sleep 1000)' | head -500 | tr '\\n' ' ')" """),
    "bomb of vfork": (TIMEOUT, "limits alone vfork_bomb"),
    "loop of exec": (TIMEOUT, "limits alone exec_loop"),
    "zombie farm": (MANY, "for i in {1..1000}; do sleep 0 & done; exec sleep 1000"),
    "zombie farm in C": (TIMEOUT, "limits alone zombie_farm"),
    "orphan farm": (f"{TIMEOUT}|{MANY}", "for i in {1..1000}; do (sleep 1000 &); done"),
    "session farm": (MANY, "for i in {1..1000}; do setsid sleep 1000 & done; sleep 1000"),
    "daemons": ("exit 0", "limits alone daemons"),
    # --- memory
    "bash hog": (HOG, "x=x; while :; do x=$x$x; done"),
    "bash array hog": (HOG, "while :; do a[i++]=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"),
    "awk hog": (MEMORY, """awk 'BEGIN { s = "x"; while (1) s = s s }'"""),
    "awk array hog": (HOG, """awk 'BEGIN { while (1) a[n++] = "xxxxxxxxxxxxxxxxxx" }'"""),
    "lua hog": (HOG, """lua -e 't = {} while true do t[#t+1] = ("x"):rep(1000000) .. #t end'"""),
    "jq hog": (HOG, "jq -n '[range(1e9)] | length'"),
    "C hog": (MEMORY, "limits alone malloc_until_refused; exit 1"),
    "mmap hog": (MEMORY, "limits alone mmap_until_refused; exit 1"),
    "mappings past the limit": ("LIMIT_EXCEEDED mappings", "sharing alone mapping_bomb; exit 1"),
    "full shared memory": (MEMORY, "cat /dev/zero > /dev/shm/x"),
    "segments past the limit": (MEMORY, "sharing alone segment_bomb; exit 1"),
    "herd of hogs": (HOG, """for i in 1 2; do awk 'BEGIN { while (1) a[n++] = "x" }' & done; wait; exit 1"""),
    "brace hog": ("exit 0", "echo {1..1000000000}"),
    "brace hog that fits": (HOG, ": {1..10000000}; exit 1"),
    "giant here-document": ("exit 0", "x=$(head -c 1000000 /dev/zero | tr '\\0' x); cat <<< $x$x$x > /dev/null"),
    "giant environment": (f"{HOG}|exit 126", '(x=$(printf %300000s); for i in {1..20}; do export "v$i=$x"; done; exec ls)'),
    "giant arguments": (HOG, "ls $(seq 1000000)"),
    "giant width": (TIMEOUT, "printf %2000000000d 1"),
    # --- output
    "flood of stdout": (TIMEOUT, "yes"),
    "flood of stderr": (TIMEOUT, "yes >&2"),
    "flood of both": (TIMEOUT, "yes & yes >&2"),
    "flood of zeros": (TIMEOUT, "cat /dev/zero"),
    "flood of no UTF-8": (TIMEOUT, r"cat /dev/zero | tr '\0' '\377'"),
    "flood by the shell": (TIMEOUT, "while :; do echo x; echo y >&2; done"),
    "flood that ends": ("exit 0", "yes | head -c 100000000"),
    "flood left behind": ("exit 0", "yes & yes >&2 & disown -a"),
    "flood of the terminal": ("exit 1", "yes > /dev/tty"),
    "flood of a full device": ("exit 1", "yes > /dev/full"),
    "flood of a FIFO": (TIMEOUT, "mkfifo /tmp/f; exec 3<>/tmp/f; yes > /tmp/f"),
    # --- files
    "files past the limit": (FILES, "cd /tmp; while :; do : > $((i++)) || exit; done"),
    "folders past the limit": (FILES, "cd /tmp; seq 6000 | xargs mkdir || exit 1"),
    "links past the limit": (FILES, "cd /tmp; touch {1..3000}; mkdir l; cp -s /tmp/{1..3000} l"),
    "names past the limit": (FILES, "cd /tmp; touch {1..3000}; mkdir l; cp -l {1..3000} l"),
    "full disk": (BYTES, "cat /dev/zero > /tmp/x"),
    "full disk of deleted files": (BYTES, "exec 3> /tmp/x; rm /tmp/x; cat /dev/zero >&3"),
    "sparse giant": ("exit 0", "truncate -s 1T /tmp/x && cp --sparse=always /tmp/x /tmp/y; cat /tmp/x | head -c 9999999 > /dev/null"),
    "sparse giant read": (TIMEOUT, "truncate -s 1T /tmp/x; wc -l < /tmp/x"),
    "deep folders": ("exit 0", "cd /tmp; for i in {1..400}; do mkdir d; cd d; done; cd /tmp; rm -r d && [ ! -e d ]"),
    "deep path": ("exit 0", "p=/tmp; for i in {1..1500}; do p=$p/d; done; mkdir -p $p && rm -r /tmp/d"),
    "storm of renames": (TIMEOUT, "cd /tmp; : > a; f() { while :; do mv a b; mv b a; done; }; f 2> /dev/null & f 2> /dev/null"),
    "folder into itself": ("exit 1", "cd /tmp; mkdir -p a/b/c; mv a a/b/c"),
    "loop of links": ("exit 1", "cd /tmp; ln -s b a; ln -s a b; find -L . ; ls a/; cat a"),
    "chain of links": ("exit 1", "cd /tmp; : > l0; for i in {1..100}; do ln -s l$((i-1)) l$i; done; cat l100"),
    "link to its folder": ("exit 2", "cd /tmp; ln -s . l; p=l; for i in {1..1000}; do p=$p/l; done; find -L .; ls $p"),
    "dots": ("exit 1", "[ $(ls -d /.. | wc -l) = 1 ]; cat /../../../../../../etc/shadow /proc/self/root/../../etc/shadow"),
    "links outside": ("exit 2", "ln -s /../../../../root /tmp/l; ls /tmp/l/ /proc/self/root/../work /proc/1/root/work"),
    "very long names": ("exit 1", "touch /tmp/$(printf %300s | tr ' ' x); cat /$(printf %9000s | sed 's/  /x\\//g')"),
    "all of proc": ("exit 1", "cat /proc/*/environ /proc/*/mem /proc/*/fd/* /proc/kcore /proc/kmsg > /dev/null"),
    "walk through proc": ("exit [12]", "find /proc /dev > /dev/null 2>&1; grep -r x /proc > /dev/null 2>&1"),
    "remove everything": ("exit 1", "rm -rf --no-preserve-root / 2> /dev/null; [ ! -d /bin ]"),
    "overwrite the system": ("exit 1", "rm -f /bin/bash /bin/ls; cp /bin/cat /bin/ls; : > /usr/lib/wasmsand/shell.wasm"),
    "folder gone below": ("exit 1", "mkdir /tmp/d; cd /tmp/d; rmdir /tmp/d; ls; echo x > y"),
    "deadlock of locks": (TIMEOUT, "cd /tmp; f() { flock $1; : > t$1; until [ -e t$2 ]; do :; done; flock $2; }; f 8 9 8> a 9> b & f 9 8 8> a 9> b & wait"),
    # --- archives
    "gzip bomb": (f"{BYTES}|{TIMEOUT}", "head -c 99999999 /dev/zero | gzip | gzip > /tmp/b; gzip -dc /tmp/b | gzip -dc > /tmp/x"),
    "zip bomb": (BYTES, "cd /tmp; head -c 3000000 /dev/zero > z; zip -q a z; for i in {1..9}; do unzip -p a; done | cat > x || exit"),
    "xz bomb": (BYTES, "cd /tmp; head -c 3000000 /dev/zero | xz -0 > b; xz -dc b b b b b b b b b | cat > x"),
    "tar bomb": (FILES, "cd /tmp; mkdir t; touch t/{1..200}; tar cf a t; for i in {1..50}; do mkdir $i && tar xf a -C $i || exit; done"),
    # --- recursion
    "recursion of bash": (CRASH, "f() { f; }; f"),
    "recursion of eval": (CRASH, "f() { eval f; }; f"),
    "recursion of source": (CRASH, "echo '. /tmp/s' > /tmp/s; . /tmp/s"),
    "recursion of traps": (f"{CRASH}|{HOG}", "trap 'kill -USR1 $$' USR1; kill -USR1 $$; sleep 1000"),
    "recursion of arithmetic": ("exit 1", "a=a; echo $((a))"),
    "recursion of awk": (HOG, "awk 'function f(n) { return f(n + 1) + 1 } BEGIN { f(0) }'"),
    "recursion of bc": (f"{CRASH}|{HOG}", "echo 'define f(n) { return f(n + 1) + 1; } f(0)' | bc"),
    "recursion of dc": (f"{CRASH}|{HOG}", "dc -e '[lfx1+]sflfx'"),
    "recursion of lua": (f"exit 1|{HOG}", "lua -e 'local function f() return 1 + f() end f()'"),
    "recursion of jq": (f"{CRASH}|{HOG}", "jq -n 'def f: 1 + f; f'"),
    "recursion of make": ("exit 2", r"printf 'a=$(a)\nall:;echo $(a)\n' > /tmp/m; make -f /tmp/m"),
    "recursion in C": (CRASH, "limits alone deep_recursion"),
    "recursion of native stacks": (f"{CRASH}|{MEMORY}", "limits alone native_recursion"),
    "deep expression": ("exit 2", "eval $(printf %20000s | tr ' ' '(')"),
    "deep JSON": ("exit [245]", "printf %100000s | tr ' ' '[' | jq ."),
    "endless sed": (TIMEOUT, "echo x | sed ':a;s/x/xx/;ta'"),
    "giant number": (TIMEOUT, "echo '9^9^9' | bc"),
    # --- patterns
    "pattern of grep": (f"exit 1|{TIMEOUT}", "printf %5000s | grep -E '( *)*( *)*( |  )*b'"),
    "pattern with references": (f"exit 1|{TIMEOUT}", r"printf %200s | grep -E '( *)( *)( *)( *)\1\2\3\4b'"),
    "pattern with repetitions": (HOG, "echo x | grep -E '((((x{1,200}){1,200}){1,200}){1,200})'"),
    "pattern of sed": (f"exit 0|{TIMEOUT}", "printf %3000s | sed -E 's/(.*)*(.*)*(.*)*x//'"),
    "pattern of bash": (f"exit 1|{TIMEOUT}", "[[ $(printf %5000s | tr ' ' a) =~ (a*)*(a*)*b ]]"),
    "pattern of names": (TIMEOUT, "shopt -s extglob; x=$(printf %200s | tr ' ' a); [[ $x == *(*(a))*(*(a))b ]]"),
    "pattern of paths": (HOG, "ls /*/*/*/*/../../../../*/*/*/*/../../../../*/*/*/*/../../../../*/*/*/*"),
    # --- signals
    "storm of signals": (TIMEOUT, "trap : USR1; while :; do kill -USR1 $$; done"),
    "storm of signals in C": (TIMEOUT, "limits alone signal_storm"),
    "storm of alarms": (TIMEOUT, "limits alone timer_storm"),
    "handlers in handlers": (CRASH, "limits alone handler_recursion"),
    "kill all": ("exit [01]", "sleep 1000 & kill -9 -1"),
    "kill the shell": ("exit 137", "kill -9 $$"),
    "kill init": ("exit 137", "kill -9 1; kill -9 0"),
    "kill by name": ("exit 137", "killall -9 bash; pkill -9 ."),
    "end the shell": ("exit 143", "kill $$; kill -HUP $$"),
    "stop the shell": (TIMEOUT, "kill -STOP $$"),
    "stop by the terminal": (TIMEOUT, "kill -TSTP $$; kill -TTIN $$; suspend -f"),
    "stopped child": (TIMEOUT, "sleep 1000 & kill -STOP $!; wait"),
    # --- time
    "trap evades": (TIMEOUT, "trap '' TERM INT HUP ALRM XCPU; trap 'while :; do :; done' EXIT; while :; do :; done"),
    "trap at the end": (TIMEOUT, "trap 'while :; do :; done' EXIT; exit 0"),
    "trap before everything": (TIMEOUT, "trap 'while :; do :; done' DEBUG; true"),
    "nohup evades": (TIMEOUT, "nohup sh -c 'while :; do :; done' > /dev/null 2>&1"),
    "session evades": (TIMEOUT, """setsid sh -c 'trap "" HUP TERM; while :; do echo x; done'"""),
    "double fork evades": (TIMEOUT, "( ( trap '' HUP TERM; while :; do echo x > /tmp/x; done ) & ); while :; do :; done"),
    "double fork left behind": ("exit 0", "( ( trap '' HUP TERM; while :; do :; done ) & )"),
    "respawning": (f"{TIMEOUT}|{MANY}", "f() { trap 'f &' EXIT TERM; sleep 0.01; exec sleep 1000; }; f & wait"),
    "nested time limits": (TIMEOUT, "timeout 1000 timeout 1000 sh -c 'while :; do :; done'"),
    "sleep": (TIMEOUT, "sleep inf"),
    "spin": (TIMEOUT, "limits alone spin"),
    "spin in calls": (TIMEOUT, "limits alone spin_in_calls"),
    "spin in fill": (TIMEOUT, "limits alone spin_in_fill"),
    "reader of a FIFO": (TIMEOUT, "mkfifo /tmp/f; while read x; do :; done < /tmp/f"),
    "reader of its own FIFO": (TIMEOUT, "mkfifo /tmp/f; exec 3<>/tmp/f; while read x <&3; do :; done"),
    "reader of chance": (TIMEOUT, "cat /dev/urandom > /dev/null"),
    "reader of the terminal": ("exit 1", "read x < /dev/tty"),
    # --- descriptors
    "stdout closed": ("exit 1", "exec 1>&-; echo x"),
    "all closed": ("exit 1", "exec 0<&- 1>&- 2>&-; ls; cat"),
    "every descriptor closed": ("exit [01]", "for i in {0..255}; do eval \"exec $i>&-\"; done; echo x"),
    "bomb of descriptors": (FDS, "while exec {fd}< /dev/null; do :; done; exit 1"),
    "bomb of pipe buffers": (TIMEOUT, "limits alone pipe_bomb"),
    "bomb of sockets": (TIMEOUT, "limits alone socket_bomb"),
    "bomb of terminals": (TIMEOUT, "limits alone pty_bomb"),
    "cycles of epoll": (TIMEOUT, "limits alone epoll_bomb"),
    # --- the shell's own state
    "limits raised": ("exit 7", "! ulimit -n 1000000 && ! ulimit -u unlimited && ! ulimit -i 9999 && [ $(ulimit -n) = 1024 ] && exit 7"),
    "limits raised after they were lowered": ("exit 7", "ulimit -n 99 && ! ulimit -n 100 && [ $(ulimit -n) = 99 ] && exit 7"),
    "limits of the user raised, not of the sandbox": (MEMORY, "ulimit -v unlimited; limits alone malloc_until_refused; exit 1"),
    "no commands executed": ("exit 0", "set -n"),
    "end at the first error": ("exit 1", "set -eu; set -o pipefail; false | true"),
    "trace with a loop": (TIMEOUT, "PS4='$(while :; do :; done)'; set -x; true"),
    "variables that cannot change": ("exit 1", "readonly PATH IFS HOME; PATH=/x"),
    "exec of nothing": ("exit 127", "exec /no/such"),
    "exec of false": ("exit 1", "exec /bin/false"),
}

# What stays in the shell until the sandbox is reset: what was asked for, and the
# memory that the shell itself has taken, which a fork must have once more.
POISON = {
    "PATH": ("exit 127", "PATH=/x; ls"),
    "limit of descriptors lowered": ("exit 2", "ulimit -n 3 && ls"),
    "limit of memory lowered": ("exit 254", "ulimit -v 1 && ls"),
    "limits lowered": ("exit 254", "ulimit -n 3 && ulimit -u 1 && ulimit -v 1 && ls"),
    "functions": ("exit 0", "echo() { :; }; ls() { return 9; }"),
    "here-document": (HOG, "x=$(head -c 9000000 /dev/zero | tr '\\0' x); cat <<< $x$x$x$x > /dev/null; exit 1"),
    "variables": (MEMORY, "while :; do x=\"$x$x x\"; /bin/cat <<< $x > /dev/null || exit; done"),
}

MODULES = {
    "that spins": (TIMEOUT, wasm.module(wasm.FOREVER)),
    "that is cut": ("exit 126", wasm.module(wasm.FOREVER)[:-4]),
    "that is no program": ("exit 126", b"\0asm" + bytes(100)),
    "with a giant memory": (f"{MEMORY}|exit 126", wasm.module(memories=(wasm.limits(65536),))),
    "that calls itself": (CRASH, wasm.module(wasm.call(0) + wasm.call(0))),
    "that is unreachable": (f"{CRASH}|exit 132", wasm.module(b"\0")),
}

REPEATED = ["bomb of subshells", "bomb of exec", "awk hog", "mmap hog", "flood of both", "files past the limit", "full disk",
            "deep path", "recursion of eval", "storm of signals", "kill the shell", "bomb of sockets", "double fork evades",
            "tar bomb"]


def reason(result):
    if "errorClass" in result:
        return " ".join([result["errorClass"], *([result["limit"]] if "limit" in result else [])])
    return f"exit {result['exitCode']}"


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tools")
    for name in ("limits.wasm", "sharing.wasm"):
        shutil.copy(PROGRAMS / name, folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def peaks(request):
    """Says at the end how much memory the attacks took."""
    found = {}
    yield found
    if found:
        worst = max(found, key=found.get)
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print(f"\n{len(found)} attacks: at most {found[worst]} MiB ({worst}) of {BOUND_MB} MiB"
                  f" = {SERVER_MB} + {SLOTS} slots x {SLOT_MB} + memory + files")


@pytest.fixture
def ring(start, tools, peaks, request):
    """A server with the sandbox that is attacked, and one beside it."""
    client = start("--tools", str(tools))
    client.call("create", limits=LIMITS, fsLimitBytes=FILE_BYTES, timeoutMs=PATIENT_MS)
    client.beside = client.call("sandbox.create")["sandboxId"]
    yield client
    peaks[request.node.name] = client.memory_mb("VmHWM")
    assert peaks[request.node.name] < BOUND_MB


def check_works(client, **params):
    result = client.run("command echo ok; command ls -d /tmp", **params)
    # What was killed may be named on stderr.
    assert (result["exitCode"], result["stdout"]) == (0, "ok\n/tmp\n"), result


def attack(client, why, command):
    may_time_out = "TIMEOUT" in why
    id = client.begin("run", command=command, timeoutMs=ENDLESS_MS if may_time_out else PATIENT_MS)
    check_works(client, sandboxId=client.beside)
    result = client.result(id)
    assert re.fullmatch(why, reason(result)), result
    assert len(result["stdout"]) <= 1 << 20 and len(result["stderr"]) <= (1 << 20) + 100
    check_works(client, sandboxId=client.beside)


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(ring, name):
    attack(ring, *ATTACKS[name])
    check_works(ring)


@pytest.mark.parametrize("name", POISON)
def test_poison(ring, name):
    attack(ring, *POISON[name])
    ring.call("sandbox.reset")
    check_works(ring)


@pytest.mark.parametrize("name", MODULES)
def test_module(ring, name):
    why, module = MODULES[name]
    ring.call("files.write", path="/tmp/x", data=encode(module), mode="0755")
    attack(ring, why, "/tmp/x; exit")
    check_works(ring)


def test_a_bomb_that_goes_off_later(ring):
    """Nothing was refused to the run itself; what it left behind ends when it
    meets a limit, and the runs after that have all of the sandbox."""
    assert ring.run(":() { : | : & }; :")["exitCode"] == 0
    while ring.call("status")["processes"] > 1:
        ring.run("true")
    check_works(ring)


@pytest.mark.parametrize("name", REPEATED)
def test_repeated(ring, name):
    """What the host pays does not grow. What is freed goes back to it some time after the answer: if it does not, the
    client's patience ends the server."""
    slack = 300 if IS_SANITIZED else 24
    sizes = []
    for _ in range(10):
        ring.call("sandbox.reset")
        attack(ring, *ATTACKS[name])
        sizes.append(ring.memory_mb())
    check_works(ring)
    while ring.memory_mb() > max(sizes[:2]) + slack:
        ring.call("status")
        select.select([], [], [], 0.1)
