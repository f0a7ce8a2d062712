// stdout: "499500 10\n"
// Goroutines, channels, mutexes, timers.
package main

import (
	"fmt"
	"sync"
	"time"
)

func main() {
	sums := make(chan int)
	var wait sync.WaitGroup
	for i := 0; i < 1000; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			sums <- i
		}()
	}
	go func() {
		wait.Wait()
		close(sums)
	}()
	total := 0
	for n := range sums {
		total += n
	}

	ticks := 0
	start := time.Now()
	ticker := time.NewTicker(2 * time.Millisecond)
	for range ticker.C {
		if ticks++; ticks == 10 {
			break
		}
	}
	if slept := time.Since(start); slept < 20*time.Millisecond {
		panic(slept)
	}
	select {
	case <-make(chan int):
	case <-time.After(5 * time.Millisecond):
	}
	fmt.Println(total, ticks)
}
