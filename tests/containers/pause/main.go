// Pause is the first process of a pod: it holds the pod's namespaces, collects processes that
// lost their parents, and ends when it is asked to.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if process, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != nil || process <= 0 {
				break
			}
		}
	}
}
