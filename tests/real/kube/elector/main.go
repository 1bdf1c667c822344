// A candidate of client-go's own leader election, for tests that let Python and Go compete.
//
//	elector KUBECONFIG NAMESPACE NAME IDENTITY LEASE-DURATION RENEW-DEADLINE RETRY-PERIOD
//
// It says "candidate", "leads" and "stopped", each with the nanoseconds of the wall clock, and gives
// the lease back when it is told to end.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	fatal(err)
	clients, err := kubernetes.NewForConfig(config)
	fatal(err)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: os.Args[2], Name: os.Args[3]},
		Client:     clients.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: os.Args[4]},
	}
	say("candidate")
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   duration(os.Args[5]),
		RenewDeadline:   duration(os.Args[6]),
		RetryPeriod:     duration(os.Args[7]),
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) { say("leads"); <-leading.Done() },
			OnStoppedLeading: func() { say("stopped") },
		},
	})
}

func duration(text string) time.Duration {
	found, err := time.ParseDuration(text)
	fatal(err)
	return found
}

func say(word string) { fmt.Println(word, time.Now().UnixNano()) }

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
