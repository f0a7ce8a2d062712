# dejagnu.tcl FOLDER TEST: runs one test of a DejaGnu testsuite whose settings are in
# FOLDER/config/unix.exp, with the few procedures of DejaGnu that findutils' use.
lassign $argv folder test
set verbose 0
set failures 0
set skipped 0
set base_dir [pwd]/testsuite

proc send_log {text} { puts -nonewline $text }
proc send_user {text} { puts -nonewline $text }
proc verbose args {}
proc clone_output {text} { puts $text }
proc warning {text} { puts "warning: $text" }
proc transform {name} { return $name }
proc findfile {args} { return [string trim [exec which [file tail [lindex $args 0]]]] }
proc which {path} { return $path }
proc setup_xfail args { incr ::skipped }
proc pass {text} { puts "PASS: $text" }
proc fail {text} { puts "FAIL: $text"; incr ::failures }
proc untested {text} { puts "skipped test: $text"; incr ::skipped }
proc unsupported {text} { puts "skipped test: $text"; incr ::skipped }

source $folder/config/unix.exp
source $test
exit [expr {$failures ? 1 : $skipped ? 77 : 0}]
