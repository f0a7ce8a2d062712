# What the files of this folder share. A suite runs on both sides with $source, the
# unpacked source package, $suites, this folder, and $side, native or inside.

# Tests that are driven by a program that is not in the image (perl, tcl): it runs
# outside, and each of $programs that it starts runs inside, in the same folder.
outside='*.pl *.xpl *.exp'

# automake DIR: the variables that automake's harness gives a test whose scripts are
# in the folder DIR of the source, in an empty build tree.
automake() {
    export srcdir=$source${1:+/$1} top_srcdir=$source abs_srcdir=$source${1:+/$1}
    export abs_top_srcdir=$source abs_top_builddir=$PWD top_builddir=.
    export VERSION PACKAGE_VERSION=$VERSION built_programs=$(echo $programs)
    export LOCALE_FR=none LOCALE_FR_UTF8=none LOCALE_JA=none fail=0
    export CC=false AWK=awk EGREP='grep -E' EXEEXT= MAKE=make PERL=perl SHELL=/bin/bash
    export host_os=linux-gnu host_triplet=x86_64-pc-linux-gnu TMPDIR=/tmp LC_ALL=C
    export CONFIG_HEADER=$PWD/config.h
    export CANDIDATE_TMP_DIRS='/other /dev/shm'
    : >config.h
    mkdir -p src "./$1"
    ln -s -t src $(type -P $programs)
}

# script NAME DIR: runs a test of the folder DIR of the source, with bash or perl.
# $without names one of its cases that is left out (perl).
script() {
    local test=$source/$1
    export CU_TEST_NAME=suite,${1//\//-}
    mkdir -p "${1%/*}"
    if [ "${without-}" ]; then
        sed "s/^my .fail = run_tests/@Tests = grep {\$_->[0] ne '$without'} @Tests; &/" \
            "$test" >"$1"
        test=$PWD/$1
    fi
    case $1 in
    *.pl) perl -w "-I$source/$2" -MCuSkip -MCoreutils "-MCuTmpdir qw($1)" "$test" ;;
    *.xpl) perl -T -w "-I$source/$2" -MCuSkip -MCoreutils "-MCuTmpdir qw($1)" "$test" ;;
    *) /bin/bash "$test" ;;
    esac 9>&2
}

# listed VARIABLE FILE: the words of a variable of a makefile
listed() {
    sed -e ':a' -e '/\\$/N' -e 's/\\\n//' -e 'ta' "$source/$2" |
        sed -n "s/^$1 *=//p" | tr -s ' \t' '\n' | grep -v '^\$' | grep .
}

# helper SIDE NAME: makes the program $suites/NAME.c in the current folder
helper() {
    local cc=cc
    [ "$1" = native ] || cc=wcc
    $cc -O1 -w "$suites/$2.c" -o "$2"
}
