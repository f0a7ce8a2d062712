# Python, natively and inside: start-up, imports and kernels. Prints the best time
# of each; what they compute goes through a checksum to standard error, to be
# compared. usage: bash python.sh ROUNDS
export PATH=/usr/bin:/bin LC_ALL=C.UTF-8
here=${BASH_SOURCE[0]%/*}

# best NAME COMMAND...
best() {
    local name=$1 least=999999999999 start us r
    shift
    for ((r = 0; r < 10 * ROUNDS; r++)); do
        start=${EPOCHREALTIME/./}
        "$@" >/dev/null
        us=$((${EPOCHREALTIME/./} - start))
        ((us < least)) && least=$us
    done
    echo "$name $((least / 1000)).$(printf %03d $((least % 1000))) ms"
}

ROUNDS=$1
best "python start" python3 -c 'print(1)'
best "python start, plain" python3 -I -c 'print(1)'
best "python start + imports" python3 -c 'import json, re, pathlib, datetime, subprocess'
python3 "$here/python.py" "$ROUNDS"
