# Shell code, tools and git, for bash natively and inside. Prints the best time
# of each; what they compute goes through a checksum to standard error, to be
# compared. usage: bash userland.sh MEGABYTES ROUNDS
export LC_ALL=C.UTF-8 HOME=${TMPDIR:-/tmp}/bench-userland
mkdir -p "$HOME" && cd "$HOME" || exit
trap 'rm -rf "$HOME"' EXIT

# best NAME COMMAND...
best() {
    local name=$1 least=999999999999 start us r
    shift
    for ((r = 0; r < ROUNDS; r++)); do
        start=${EPOCHREALTIME/./}
        "$@" >out
        us=$((${EPOCHREALTIME/./} - start))
        ((us < least)) && least=$us
    done
    echo "$name $((least / 1000)).$(printf %03d $((least % 1000))) ms"
    echo "$name $(md5sum <out)" >&2
}

additions() {
    local i sum=0
    for ((i = 0; i < 400000; i++)); do
        ((sum += i))
    done
    echo $sum
}

longer() {
    echo "${1}x" >/dev/null
    REPLY=${1#?}$2
}
strings() {
    local i s=abcdefghij
    for ((i = 0; i < 60000; i++)); do
        longer "$s" "${s:0:1}"
        s=$REPLY
        [[ $s == *a* && ${#s} -eq 10 ]] || echo broken
        case $s in a*) s=${s//b/b} ;; esac
    done
    echo "$s"
}

commit() {
    rm -rf repo
    git init -q repo
    cd repo || exit
    local i
    for ((i = 0; i < 1000; i++)); do
        echo "file $i" >f$i
    done
    git add .
    git -c user.name=n -c user.email=e@example.com commit -qm all
    git ls-files | wc -l
    cd ..
}

upper() {
    tr a-z A-Z <data
}

compress() {
    gzip -c <data | gzip -dc
}

ROUNDS=$2
best additions additions
best strings strings
best commit commit
gawk -v bytes=$(($1 * 1000000)) 'BEGIN {
    while (n < bytes) {
        seed = (seed * 69069 + 12345) % 16777216
        line = sprintf("%d line %x of text,%d;%s", seed, seed * 7, seed % 1000,
                       seed % 3 ? "alpha beta" : "gamma")
        print line
        n += length(line) + 1
    }
}' >data
ROUNDS=$(((ROUNDS + 1) / 2))
best "tool md5sum" md5sum data
best "tool sha256sum" sha256sum data
best "tool wc" wc data
best "tool wc-l" wc -l data
best "tool sort" sort --parallel=1 data
best "tool grep" grep -c ff data
best "tool grep-E" grep -cE 'f(0|1)+[a-c]' data
best "tool awk" gawk -F, '{ n += $2 } END { print n }' data
best "tool sed" sed 's/line \([0-9a-f]*\)/\1/' data
best "tool cut" cut -d, -f2 data
best "tool uniq" uniq -c data
best "tool tr" upper
best "tool gzip" compress
