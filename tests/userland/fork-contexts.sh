# Every way in which bash's own code comes to fork: each prints a line. Run with
# native bash and inside, the output must be the same: a function on such a way
# that asyncify does not know of loses output or goes wrong.
exec 2>&1
export LC_ALL=C PS4='+ '
shopt -s extglob
t() { printf '%s: ' "$1"; }

t eval; eval 'x=$(echo hi | tr a-z A-Z)'; echo "$x"
t source; . /dev/fd/3 3<<<'echo src $(echo in)'
t subshell; f() { (exit 3); echo $?; }; f
t command; command eval 'echo $(echo q)'
t builtin; builtin echo $(echo b)
t subscript; a=(1 2); echo ${a[$(echo 1)]} $((a[$(echo 0)] + 1))
t assign; a[$(echo 2)]=z; echo "${a[2]}"
t declare; declare -A h=([k]=$(echo v)); declare y=$(echo w); echo "${h[k]} $y"
t local; g() { local v=$(echo l) && export W=$(echo m) && echo $v $W; }; g
t readonly; readonly RO=$(echo r); echo $RO
t printf-v; printf -v y %s "$(echo z)"; echo $y
t printf-v-array; printf -v 'a[$(echo 1)]' %s pv; echo "${a[1]}"
t read-array; read 'a[$(echo 0)]' <<<ra; echo "${a[0]}"
t test-v; [ -v 'a[$(echo 0)]' ] && echo set
t unset; unset 'a[$(echo 0)]'; echo ${#a[@]}
t procsub; cat <(echo ps)
t procsub-out; echo out > >(cat); wait $!
t loop-pipe; for i in 1 2; do echo $i; done | while read l; do echo -n "$(echo r$l) "; done; echo
t let; let "k=$(echo 4)+1"; echo $k
t arith; (( k = $(echo 6) * 2 )); echo $k
t arith-for; for ((i = $(echo 0); i < $(echo 2); i += $(echo 1))); do echo -n $i; done; echo
t mapfile; mapfile -C 'echo $(echo cb)' -c 1 m <<<one
t case; case $(echo w) in $(echo w)) echo case ;; esac
t case-extglob; case ab in @($(echo ab)|c)) echo yes ;; esac
t cond; [[ $(echo a) == $(echo a) && abc =~ $(echo b.) ]] && echo ${BASH_REMATCH[0]}
t test; test "$(echo a)" = a && echo same
t default; unset u; echo ${u:-$(echo d)} ${u:=$(echo e)} ${u:+$(echo f)}
t error; (: ${nope:?$(echo no)}) 2>&1 | sed 's/.*: //'
t pattern; s=hello; echo ${s/$(echo l)/$(echo L)} ${s#$(echo he)} ${s:$(echo 1):$(echo 2)}
t indirect; r='a[$(echo 1)]'; echo ${!r}
t nameref; ref() { declare -n nr='a[$(echo 1)]'; echo $nr; }; ref
t heredoc; cat <<END
$(echo here) $((1 + $(echo 1)))
END
t herestring; cat <<<"$(echo string)"
t redirect; echo to >/tmp/fc.$(echo $$); cat /tmp/fc.$$; rm /tmp/fc.$$
t read-file; echo $(</etc/hostname) | wc -l | tr -d ' '
t nested; x=$(eval 'echo $(echo deep $(echo er))'); echo $x
t backtick; echo `echo tick \`echo tock\``
t assoc; echo ${h[$(echo k)]}
t trap-usr1; trap 'echo $(echo usr1)' USR1; kill -USR1 $BASHPID; trap - USR1
t trap-debug; trap 'echo -n "$(echo D) "' DEBUG; true; trap - DEBUG; echo
t trap-err; trap 'echo $(echo ERR)' ERR; false; trap - ERR
t trap-return; rt() { :; }; set -o functrace; trap 'echo $(echo RET)' RETURN; rt; trap - RETURN; set +o functrace
t trap-exit; (trap 'echo $(echo bye)' EXIT; exit 0)
t trap-exit-signal; (trap 'echo $(echo dying)' EXIT; kill -TERM $BASHPID; echo no)
t trap-child; (trap 'echo $(echo chld)' CHLD; (exit 0); :) | sort -u
t not-found; command_not_found_handle() { echo "no $(echo $1)"; }; nosuch-command; unset -f command_not_found_handle
t coproc; coproc C { read l; echo "co $l"; }; echo x >&${C[1]}; read l <&${C[0]}; echo $l; wait $C_PID
t background; { sleep 0; echo bg $(echo job); } & wait $!
t wait-n; (exit 4) & wait -n; echo $?
t time; TIMEFORMAT=timed; time (echo $(echo in))
t pipestatus; (exit 1) | (exit 2) | true; echo ${PIPESTATUS[*]}
t lastpipe; (shopt -s lastpipe; echo lp | read v; echo $v $(echo after))
t select; PS3=; select w in $(echo one two); do echo "got $(echo $w)"; break; done <<<2 | tail -n 1
t compgen-F; cf() { COMPREPLY=($(echo comp)); }; compgen -F cf x 2>/dev/null
t compgen-C; compgen -C 'echo cc' x 2>/dev/null
t compgen-W; compgen -W '$(echo w1 w2)' w | tr '\n' ' '; echo
t prompt; p='\u $(echo prompt)'; q=${p@P}; echo ${q#* }
t expand-E; e='$(echo not)'; echo ${e@E}
t function-pipe; h() { echo $(echo $1) | cat; }; h 1 | while read l; do h "$l$l"; done
t recursion; rec() { [ $1 = 0 ] && echo $(echo bottom) || rec $(($1 - 1)); }; rec 50
t exec; (exec echo $(echo replaced))
t xtrace; (PS4='$(echo +) '; set -x; true $(echo t)) 2>&1 | tail -n 1
t env; BASH_ENV=<(echo 'echo env $(echo file)') bash -c true
t stdin-script; echo 'echo $(echo from) stdin' | bash
t history; (set -o history; history -s 'echo x'; HISTTIMEFORMAT= history | wc -l | tr -d ' ')
t alias; shopt -s expand_aliases
alias al='echo $(echo aliased)'
al
t globstar; shopt -s nullglob; echo $(cd /etc; echo host[n]ame)
t posix; (set -o posix; . /dev/fd/3 3<<<'echo px $(echo px)'; export P=$(echo p); echo $P)
trap 'echo "last: $(echo exit)"' EXIT
