# Every way in which git comes to fork without executing a program: filters of
# one file, the sidebands of fetch and push, a server's muxer, gc in the
# background. Each prints a line. Run with native git and inside, the output must
# be the same: a function on such a way that asyncify does not know of loses
# output or goes wrong.
exec 2>&1
work=$(mktemp -d)
cd "$work" || exit
export HOME=$work LC_ALL=C.UTF-8 TZ=UTC GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
export GIT_AUTHOR_DATE='@1700000000 +0000' GIT_COMMITTER_DATE='@1700000000 +0000'
git config --global user.name n
git config --global user.email a@b
git config --global init.defaultBranch main
git config --global filter.up.clean 'tr a-z A-Z'
git config --global filter.up.smudge 'tr A-Z a-z'
git config --global filter.up.required true
git config --global advice.detachedHead false
t() { printf '%s: ' "$1"; }
show() { git show "${1-HEAD}:f"; }

git init -q r && cd r || exit
echo 'f* filter=up' >.gitattributes
echo one >f
t add; git add . && git commit -qm 1 && show
t worktree; cat f
t add-u; echo two >f; git add -u; git commit -qm 2; show
t commit-a; echo three >f; git commit -qam 3; show
t commit-path; echo four >f; git commit -qm 4 f; show
t commit-dash; echo five >f; git commit -qm 5 -- f; show
t add-all; echo new >f2; git add -A; git commit -qm 6; git show HEAD:f2
t add-intent; echo i >f3; git add -N f3; git add f3; git show :f3
git reset -q --hard
t status; touch -d @1 f; git status --short; echo "[$?]"
t diff; echo six >f; git diff --no-ext-diff | grep '^[-+][A-Za-z]' | tr '\n' ' '; echo
t diff-head; touch -d @2 f; git diff HEAD | grep '^[-+][A-Za-z]' | tr '\n' ' '; echo
t diff-stat; git diff HEAD --stat | tail -n 1
t diff-index; touch -d @3 f; git diff-index -p HEAD | grep '^+[A-Za-z]'
t diff-quiet; git diff --quiet; echo $?
t diff-words; git diff --word-diff=porcelain | grep '^[-+][A-Za-z]' | tr '\n' ' '; echo
t blame; git blame -s f | sed 's/.*) //'
t grep; git grep -c six -- f
t hash; git hash-object f
t stash; git stash -q; cat f
t stash-pop; git stash pop -q; cat f
t stash-show; git stash -q; git stash show -p | grep '^+[A-Za-z]'; git stash pop -q
t stash-patch; git stash push -q -m x f; git stash list | sed 's/.*: //'; git stash apply -q; git stash drop -q; cat f
t checkout-path; git checkout -q HEAD~2 -- f; cat f
t restore; git restore --source HEAD~1 --staged --worktree f; cat f
t reset-hard; git reset -q --hard HEAD~1; cat f
t checkout-old; git checkout -q HEAD~2; cat f
t checkout-back; touch -d @4 f; git checkout -q main; cat f
t switch-dirty; echo dirty >f; git checkout -q HEAD~2 2>&1 | grep -c overwritten; git checkout -q f
t branch; git switch -qc side; echo g >g; git add g; git commit -qm side; git switch -q main; ls | tr '\n' ' '; echo
t merge; touch -d @5 f; git merge -q --no-edit side; ls | tr '\n' ' '; echo
t merge-content; git switch -qc m2 HEAD~1; seq -f 'line %g' 9 >f; git commit -qam l; git switch -qc m3; sed -i '1s/.*/first/' f; git commit -qam f; git switch -q m2; sed -i '9s/.*/last/' f; git commit -qam e; git merge -q --no-edit m3; head -n 1 f; tail -n 1 f
t cherry-pick; git switch -q main; git cherry-pick -x m2~2 >/dev/null 2>&1; echo $?; git cherry-pick --abort 2>/dev/null; git reset -q --hard
t rebase; git switch -q m3; git rebase -q m2 2>&1; echo $?; git log --format=%s -n 2 | tr '\n' ' '; echo
t revert; git revert --no-edit -m 1 HEAD >/dev/null; echo $?
t apply; git reset -q --hard; sed -i '2s/.*/second/' f; git diff >../p; git checkout -q f; git apply --index ../p; echo $?; git diff --cached --stat | tail -n 1
t am; git commit -qm s; git format-patch -q -1 --stdout >../mail; git reset -q --hard HEAD~1; git am -q ../mail; sed -n 2p f
t archive; git archive HEAD f | tar xOf - f | sed -n 2p
t worktree-add; git worktree add -q ../w HEAD; sed -n 2p ../w/f; git worktree remove --force ../w
t sparse; git ls-files -m; git update-index --refresh; echo $?
t rm; git rm -q --cached f; git add f; git status --short; echo "[$?]"
t mv; git mv f f9; git commit -qm mv; git log --follow --oneline f9 | wc -l
t log-p; git log -p -n 2 --format=%s | grep -c '^[-+]'
t bisect; git bisect start HEAD HEAD~2 >/dev/null; git bisect run false 2>&1 | grep -c 'is the first bad commit'; git bisect reset >/dev/null 2>&1; git switch -q main

cd ..
t clone; git clone -q r c; echo $?; ls c | tr '\n' ' '; echo
t clone-pack; git clone -q --no-local r d; echo $?; git -C d log --oneline | wc -l
t clone-bare; git clone -q --bare --no-local r b.git; git -C b.git rev-parse --is-bare-repository
t clone-shallow; git clone -q --depth 1 "file://$work/r" sh; git -C sh rev-list --count HEAD
t clone-url; git clone -q "file://$work/b.git" u; git -C u log -n 1 --format=%s
t fetch; (cd r && echo x >x && git add x && git commit -qm x); git -C d fetch -q origin; git -C d log -n 1 --format=%s origin/main
t pull; git -C d pull -q --ff-only; git -C d log -n 1 --format=%s
t pull-rebase; (cd r && echo y >y && git add y && git commit -qm y); (cd d && echo z >z && git add z && git commit -qm z && git pull -q --rebase && git log -n 2 --format=%s | tr '\n' ' '); echo
t fetch-all; git -C d fetch -q --all --tags --prune; echo $?
t push; git -C u switch -qc topic; (cd u && echo t >t && git add t && git commit -qm t && git push -q origin topic); git -C b.git log -n 1 --format=%s topic
t push-all; git -C u push -q --mirror origin 2>&1; echo $?
t push-delete; git -C u push origin :topic 2>&1 | grep -c deleted
t push-tags; git -C u tag v1; git -C u push -q --tags; git -C b.git tag
t push-refused; git -C d push origin main 2>&1 | grep -c 'refusing to update checked out branch'
t hook-message; printf '#!/bin/sh\necho from the hook\n' >b.git/hooks/post-receive; chmod +x b.git/hooks/post-receive; (cd u && echo h >h && git add h && git commit -qm h && git push origin topic 2>&1) | grep -o 'remote: from the hook'
t hook-refuses; printf '#!/bin/sh\necho no way\nexit 1\n' >b.git/hooks/pre-receive; chmod +x b.git/hooks/pre-receive; (cd u && git commit -q --allow-empty -m i && git push origin topic 2>&1) | grep -o 'remote: no way\|pre-receive hook declined' | tr '\n' ' '; echo
t hook-commit; printf '#!/bin/sh\necho checked\nexit 1\n' >r/.git/hooks/pre-commit; chmod +x r/.git/hooks/pre-commit; git -C r commit --allow-empty -qm no; echo $?; rm r/.git/hooks/pre-commit
t hook-message-edit; printf '#!/bin/sh\necho edited >$1\n' >r/.git/hooks/commit-msg; chmod +x r/.git/hooks/commit-msg; git -C r commit --allow-empty -qm no; git -C r log -n 1 --format=%s; rm r/.git/hooks/commit-msg
t hook-checkout; printf '#!/bin/sh\necho switched\n' >r/.git/hooks/post-checkout; chmod +x r/.git/hooks/post-checkout; git -C r switch -q side; git -C r switch -q main; rm r/.git/hooks/post-checkout
t hook-push; printf '#!/bin/sh\ncat >/dev/null; echo pushing\n' >u/.git/hooks/pre-push; chmod +x u/.git/hooks/pre-push; rm b.git/hooks/pre-receive; git -C u push -q origin topic 2>&1 | grep -c pushing
t bundle; git -C r bundle create -q ../all.bundle --all; git clone -q all.bundle e; git -C e log -n 1 --format=%s
t submodule; git init -q s; git -C s -c protocol.file.allow=always submodule --quiet add "$work/u" sub 2>&1; cat s/sub/h
t gc; git -C r gc -q; echo $?
t gc-detached; git -C c config gc.auto 1; (cd c && for i in {1..300}; do echo $i | git hash-object -w --stdin; done >/dev/null; git gc --auto -q 2>&1; echo $?)
t fsck; git -C r fsck 2>&1 | grep -c missing
t repack; git -C r repack -adq; ls r/.git/objects/pack/*.pack | wc -l
t alias; git -C r -c alias.x='!echo shell alias' x
t editor; (cd r && GIT_EDITOR='echo typed >' git commit -q --allow-empty && git log -n 1 --format=%s)
t rebase-i; (cd r && git switch -qc ri main && GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' GIT_EDITOR=true git rebase -q -i HEAD~2 >/dev/null 2>&1; echo $?; git log --oneline | wc -l)
t filter-process; cd r; git switch -q main; printf 'plain\n' >f.new; git -c filter.up.clean='cat; echo extra' add f.new; git show :f.new | tail -n 1
t filter-fails; echo q >f.bad; git -c filter.up.clean=false add f.bad; echo $?
t filter-large; seq 200000 >f.big; git add f.big; git show :f.big | md5sum
cd / && rm -rf "$work"
