// stdin: "alpha\nbeta\ngamma\n"
// slowly: 0.1
// args: x "y z"
// stdout: "ready\n5 alpha\n4 beta\n5 gamma\n[x y z] true\n"
// Standard input while another goroutine runs; arguments.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

func main() {
	var ticks atomic.Int64
	go func() {
		for range time.Tick(time.Millisecond) {
			ticks.Add(1)
		}
	}()
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(len(lines.Text()), lines.Text())
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
	fmt.Println(os.Args[1:], ticks.Load() > 5)
}
