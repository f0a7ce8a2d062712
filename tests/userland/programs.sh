# Runs inside, in bash on the root image: at least one use of each program, with
# what it must print. Ends with "N passed, N failed".
export HOME=/tmp/home LC_ALL=C.UTF-8 TZ=UTC
mkdir -p $HOME /tmp/t
passed=0 failed=0

# t NAME EXPECTED COMMAND: in an empty folder
t() {
    rm -rf /tmp/t/* && cd /tmp/t || exit
    local got
    got=$(bash -c "$3" 2>&1 </dev/null)
    if [ "$got" = "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n  wanted: %s\n  got:    %s\n' "$1" "${2@Q}" "${got@Q}"
    fi
}

t names '' 'for p in bash sh grep egrep fgrep sed gawk awk find xargs diff cmp diff3 patch tar gzip zcat bzip2 xz zip unzip jq sqlite3 make bc file tree less ed which ps top free kill pgrep watch hexdump xxd column rev getopt time vi git openssl curl nano lua; do type -P $p >/dev/null || echo $p; done'
t files '' 'for f in /etc/{passwd,group,hosts,profile,bash.bashrc,os-release} /usr/share/terminfo/x/xterm-256color /usr/share/zoneinfo/Europe/Berlin /usr/share/misc/magic; do [ -s $f ] || echo $f; done; for d in /home/user /workspace /tmp /var/tmp /run; do [ -d $d ] || echo $d; done'
t bash $'hi\nb' 'echo hi; x=$(echo a|tr a b); echo $x'
t sh $'posix' 'sh -c "echo \$0 | sed s/sh/posix/"'
t bash-trap $'sub 3\ntrap\n2' '(exit 3); echo sub $?; trap "echo trap" USR1; kill -USR1 $$; [[ abc =~ b(.) ]]; echo ${#BASH_REMATCH[@]}'
t bash-utf8 $'5\n6' 'x=héllo; echo ${#x}; echo $x | wc -m'
t ls $'a\nb' 'touch b a; ls'
t ls-l '-rw-r--r-- 1 user user 3' 'echo ab >f; ls -l f | cut -d " " -f 1-5'
t sort-utf8 'A a z é 日 ' 'printf "%s\n" é z A 日 a | sort | tr "\n" " "'
t sort-wc $'1\n2\n3\n      3       3       6' 'printf "3\n1\n2\n" >f; sort -n f; cat f | wc'
t md5sum '5d41402abc4b2a76b9719d911017c592  -' 'printf hello | md5sum'
t sha256sum '2cf24dba5fb0a30e' 'printf hello | sha256sum | cut -c1-16'
t date '1970-01-01 01:00 CET' 'TZ=Europe/Berlin date -d @0 "+%F %R %Z"'
t timeout $'124\n127' 'timeout 0.1 sleep 5; echo $?; timeout 5 /nope 2>/dev/null; echo $?'
t env 'foo' 'env -i X=foo /bin/printenv X'
t argv0 'abc' 'echo abc | (exec -a other cat)'
t install 'rwxr-xr-x' 'echo a >x; install -m 755 x y; stat -c %A y | cut -c2-'
t kill '143' 'sleep 9 & /bin/kill $!; wait $!; echo $?'
t sort-compress '100000' 'seq 100000 | sort -R -S 100k --compress-program=gzip -T /tmp | wc -l'
t split-filter $'1\n2' 'seq 4 | split -l 2 --filter="cat >\$FILE" - p.; cat p.aa'
t grep 'b12' 'printf "a1\nb12\n" | grep -E "[0-9]{2}"'
t grep-P $'b12\nfoo' 'printf "a1\nb12\n" | grep -P "(?<=b)\d{2}$"; echo foobar | grep -oP "foo(?=bar)"'
t grep-P-utf8 '1' 'echo é | grep -cP "^\p{L}$"'
t egrep $'b\na' 'printf "a\nb\n" | egrep "^(b|c)"; printf "a\nb\n" | fgrep a'
t sed 'Xbc' 'echo abc | sed "s/a/X/"'
t awk $'6 sys\nfrom pipe' 'echo 1 2 3 | awk "{print \$1+\$2+\$3, \"sys\"; fflush(); system(\"\"); \"echo from pipe\" | getline x; print x}"'
t find $'found d/a.txt' 'mkdir d; touch d/a.txt d/b.c; find d -name "*.txt" -exec echo found {} \;'
t xargs $'1 2\n3' 'seq 3 | xargs -n 2 echo'
t xargs-P $'4' 'seq 4 | xargs -P 2 -n 1 echo | wc -l'
t diff $'1c1\n< a\n---\n> b' 'echo a >1; echo b >2; diff 1 2'
t diff3 $'====\n1:1c\n  a\n2:1c\n  b\n3:1c\n  c' 'echo a >1; echo b >2; echo c >3; diff3 1 2 3'
t cmp '1 2 differ: byte 1, line 1' 'echo a >1; echo b >2; cmp 1 2'
t sdiff $'a\t\t\t\t\t\t\t      |\tb' 'echo a >1; echo b >2; sdiff 1 2'
t patch $'patching file x\nb' 'echo a >x; echo b >y; diff -u x y >p; patch x <p; cat x'
t tar 'hello' 'mkdir q; echo hello >q/x; tar cf a.tar q; rm -r q; tar xf a.tar; cat q/x'
for z in z j J; do
    t tar-$z 'hello' "mkdir q; echo hello >q/x; tar c${z}f a.t q; rm -r q; tar x${z}f a.t; cat q/x"
done
t gzip $'hello\nhello\nhello' 'echo hello | gzip | gzip -d; echo hello | gzip >x.gz; zcat x.gz; gunzip x.gz; cat x'
t bzip2 $'hello\nhello' 'echo hello | bzip2 | bunzip2; echo hello | bzip2 >x; bzcat x'
t xz $'hello\nhello' 'echo hello | xz | unxz; echo hello | xz >x.xz; xzcat x.xz'
t zip $'hello' 'echo hello >x; zip -q a.zip x; rm x; unzip -q a.zip; cat x'
t jq '[2,3]' 'echo "{\"a\":[1,2]}" | jq -c "[.a[]+1]"'
t jq-regex '"x-c"' 'echo "\"abc\"" | jq "gsub(\"a(?<n>b)\"; \"x-\")"'
t sqlite3 $'3|x\nok' 'sqlite3 db "create table t(a,b); insert into t values(3,\"x\"); select * from t; pragma integrity_check"'
t make $'cc\nhi from make' 'printf "all: b\n\t@echo hi from make\nb:\n\t@echo cc\n" >Makefile; make'
t make-j $'2' 'printf "all: a b\na b:\n\t@echo x\n" >Makefile; make -j2 | wc -l'
t bc '3.1415926532' 'echo "scale=10; 4*a(1)" | bc -l'
t dc '7' 'echo "3 4 + p" | dc'
t file $'x:            ASCII text\n/usr/bin/sed: WebAssembly (wasm) binary module version 0x1 (MVP)' 'echo a >x; file x /usr/bin/sed'
t tree $'.\n└── d\n    └── a\n\n2 directories, 1 file' 'mkdir d; touch d/a; tree'
t less 'abc' 'echo abc | less'
t ed 'Xbc' 'echo abc >f; printf "s/a/X/\nw\nq\n" | ed -s f; cat f'
t hexdump '00000000  61 62 63 0a                                       |abc.|' 'echo abc | hexdump -C | head -n 1'
t xxd '6162630a' 'echo abc | xxd -p'
t xxd-back $'abc\nXYcd' 'echo abc | xxd | xxd -r; echo abcd >f; xxd f | sed s/6162/5859/ | xxd -r'
t xxd-bits '00000000: 01100001 00001010                                      a.' 'echo a | xxd -b'
t which '/usr/bin/sed' 'which sed'
t column $'a    b\nccc  d' 'printf "a b\nccc d\n" | column -t'
t rev 'cba' 'echo abc | rev'
t getopt " -a -- 'x'" 'getopt -o ab -- -a x'
t time 'real' 'env time true 2>&1 | head -n 1 | cut -c1-4'
t watch '0' 'TERM=vt100 watch -g -n 0.1 "date +%N" >/dev/null; echo $?'
t ps 'S    sleep 9' 'sleep 9 & until pgrep -x sleep >/dev/null; do :; done; ps -o stat=,args= -p $!; kill $!'
t ps-aux 'USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND' 'ps aux | sed 1q | xargs'
t ps-ef $'UID PID PPID C STIME TTY TIME CMD\n1' 'ps -ef | sed 1q | xargs; ps -ef | grep -c " ps -ef\$"'
t ps-forest '1' 'ps -e --forest | grep -c "\\\\_ ps$"'
t top $'1\n1' 'top -b -n 1 >o; grep -c "^ *PID USER" o; grep -c " top$" o'
t free $'total used free shared buff/cache available\nMem: 512Mi' 'free -h | sed 1q | xargs; free -h | awk "NR == 2 { print \$1, \$2 }"'
t pgrep 'sleep 9' 'sleep 9 & until pgrep -x sleep >/dev/null; do :; done; pgrep -a -f "^sleep" | cut -d " " -f 2-; pkill -x sleep; wait'
t kill $'TERM\n143' '/usr/bin/kill -l 15; sleep 9 & env kill $!; wait $!; echo $?'
t uptime '1' 'uptime | grep -c "up .*load average: "'
t vmstat '3' 'vmstat | wc -l'
t vi 'Xbc' 'echo abc >f; TERM=vt100 vi -c "s/a/X/" -c wq f >/dev/null; cat f'
t tput $'256\n\e[1m' 'TERM=xterm-256color tput colors; TERM=xterm tput bold'
t git $'1\nfirst\n M x' 'git init -q r; cd r; git config user.email a@b; git config user.name n; echo 1 >x; git add x; git commit -q -m first; git log --oneline | wc -l; git log --format=%s; echo 2 >x; git status --short'
t git-merge $'one\ntwo' 'git init -q -b main r; cd r; git config user.email a@b; git config user.name n; echo one >x; git add .; git commit -qm 1; git checkout -qb b; echo two >y; git add .; git commit -qm 2; git checkout -q main; git merge -q b; cat x y'
t git-stash $'1\n2' 'git init -q r; cd r; git config user.email a@b; git config user.name n; echo 1 >x; git add x; git commit -qm 1; echo 2 >x; git stash -q; cat x; git stash pop -q; cat x'
t git-clone $'first\nmaster -> master\nsecond' 'git init -q r; cd r; git config user.email a@b; git config user.name n; echo 1 >x; git add x; git commit -q -m first; git branch br; cd ..; git clone -q r s; cd s; git log --format=%s; git fetch -q; git config user.email a@b; git config user.name n; echo 2 >x; git commit -q -a -m second; git -C ../r checkout -q br; git push origin master 2>&1 | grep -o "master -> master"; git -C ../r log -n 1 --format=%s master'
t git-grep-P 'x:b12' 'git init -q r; cd r; printf "a1\nb12\n" >x; git add x; git grep -P "(?<=b)\d{2}"'
t git-submodule $'1' 'git init -q r; cd r; git config user.email a@b; git config user.name n; echo 1 >x; git add x; git commit -qm 1; cd ..; git init -q s; cd s; git -c protocol.file.allow=always submodule --quiet add /tmp/t/r sub; cat sub/x'
t git-diff $'-1\n+2' 'git init -q r; cd r; echo 1 >x; git add x; echo 2 >x; git diff | tail -n 2'
t openssl 'SHA2-256(stdin)= 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824' 'printf hello | openssl sha256'
t openssl-rsa $'Verified OK' 'openssl genrsa -out k 1024 2>/dev/null; openssl rsa -in k -pubout -out p 2>/dev/null; echo a >x; openssl dgst -sign k -out s x; openssl dgst -verify p -signature s x'
t curl '{"a":1}' 'echo "{\"a\":1}" >j; curl -s file:///tmp/t/j'
t nano 'GNU nano, version 7.2' 'nano --version | head -n 1 | sed "s/^ *//"'
t lua $'3\tfalse' 'lua -e "print(1+2, (pcall(error, 1)))"'
t python3 '[1, 4, 9]' 'python3 -c "print([i * i for i in range(1, 4)])"'
t python3.11 '/usr' 'python3.11 -c "import sys; print(sys.prefix)"'
t pip 'pip 22.3.1' 'pip --version | cut -d" " -f1,2'
t iconv '636166e90a' 'echo café | iconv -f UTF-8 -t ISO-8859-1 | xxd -p'
t getconf '4096' 'getconf PAGESIZE'
t localhost $'127.0.0.1\n::1' 'getent ahosts localhost | cut -d " " -f 1'
t getent 'user:x:1000:1000:user:/home/user:/bin/bash' 'getent passwd 1000'
t locale 'UTF-8' 'locale charmap'
echo "$passed passed, $failed failed"
[ $failed = 0 ]
