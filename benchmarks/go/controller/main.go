// The controllers benchmark's contestant from Go: controller-runtime, with its defaults.
//
// Reads one task from standard input and writes answers to standard output, each a line of JSON;
// benchmarks/controllers_work.py says what they mean and is the same thing in Python.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type task struct {
	Job             string  `json:"job"`
	URL             string  `json:"url"`
	CAFile          string  `json:"ca_file"`
	Token           string  `json:"token"`
	Namespace       string  `json:"namespace"`
	WarmUpNamespace string  `json:"warm_up_namespace"`
	Objects         int     `json:"objects"`
	WarmUpObjects   int     `json:"warm_up_objects"`
	Workers         int     `json:"workers"`
	Mark            string  `json:"mark"`
	Writes          int     `json:"writes"`
	Lease           string  `json:"lease"`
	LeaseDuration   float64 `json:"lease_duration"`
	RenewDeadline   float64 `json:"renew_deadline"`
	RetryPeriod     float64 `json:"retry_period"`
}

type clocks struct {
	cpu  float64
	wall time.Time
}

func now() clocks {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		fail(err)
	}
	cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
	return clocks{cpu, time.Now()}
}

// monotonic is of CLOCK_MONOTONIC, which all processes of a machine share.
func monotonic() float64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		fail(err)
	}
	return time.Duration(now.Nano()).Seconds()
}

// peakBytes is the most that was resident of this program; getrusage would count the one before exec.
func peakBytes() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		fail(err)
	}
	return float64(kib) * 1024
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}

func say(message any) {
	if err := json.NewEncoder(os.Stdout).Encode(message); err != nil {
		fail(err)
	}
}

func seconds(count float64) *time.Duration {
	duration := time.Duration(count * float64(time.Second))
	return &duration
}

func (t task) config() *rest.Config {
	return &rest.Config{
		Host:            t.URL,
		BearerToken:     t.Token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: t.CAFile},
		QPS:             -1,
	}
}

// manager makes one for a namespace, without pages of metrics and health, which nobody reads here.
func (t task) manager(namespace string, options manager.Options) manager.Manager {
	kinds := runtime.NewScheme()
	if err := addToScheme(kinds); err != nil {
		fail(err)
	}
	options.Scheme = kinds
	options.Cache = cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}}
	options.Metrics = server.Options{BindAddress: "0"}
	made, err := manager.New(t.config(), options)
	if err != nil {
		fail(err)
	}
	return made
}

// calls is what the benchmark notes of each call of the reconciler.
type calls struct {
	lock    sync.Mutex
	left    int
	names   map[string]struct{}
	count   int
	moments map[string]float64
	unseen  map[string]struct{} // the last write of each object: no later one can take its place
	all     chan struct{}
	seen    chan struct{}
}

func newCalls(objects, writes int) *calls {
	unseen := map[string]struct{}{}
	for number := max(0, writes-objects); number < writes; number++ {
		unseen[strconv.Itoa(number)] = struct{}{}
	}
	return &calls{
		left:    objects,
		names:   make(map[string]struct{}, objects),
		moments: map[string]float64{},
		unseen:  unseen,
		all:     make(chan struct{}),
		seen:    make(chan struct{}),
	}
}

// began notes what a call has read.
func (c *calls) began(sequence string) {
	moment := monotonic()
	c.lock.Lock()
	defer c.lock.Unlock()
	c.count++
	if _, known := c.moments[sequence]; known || sequence == "" {
		return
	}
	c.moments[sequence] = moment
	if _, isLast := c.unseen[sequence]; isLast {
		delete(c.unseen, sequence)
		if len(c.unseen) == 0 {
			close(c.seen)
		}
	}
}

// ended notes that a call found nothing to do for an object.
func (c *calls) ended(name string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if _, known := c.names[name]; known {
		return
	}
	c.names[name] = struct{}{}
	c.left--
	if c.left == 0 {
		close(c.all)
	}
}

// reconciler reads the object and, where there is a mark to set, lets its status have it.
type reconciler struct {
	client client.Client
	mark   string
	calls  *calls
}

func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var found widget
	if err := r.client.Get(ctx, request.NamespacedName, &found); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	r.calls.began(found.Spec.Sequence)
	if r.mark != "" && found.Status.Observed != r.mark {
		before := found.DeepCopy()
		found.Status.Observed = r.mark
		return reconcile.Result{}, r.client.Status().Patch(ctx, &found, client.MergeFrom(before))
	}
	r.calls.ended(request.Name)
	return reconcile.Result{}, nil
}

// controlled runs a controller on a namespace, and says how to stop it.
func (t task) controlled(namespace string, calls *calls) func() {
	made := t.manager(namespace, manager.Options{})
	err := builder.ControllerManagedBy(made).
		For(&widget{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: t.Workers,
			SkipNameValidation:      new(true), // it is made twice in this process
		}).
		Complete(&reconciler{made.GetClient(), t.Mark, calls})
	if err != nil {
		fail(err)
	}
	return start(made)
}

func start(made manager.Manager) func() {
	running, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := made.Start(running); err != nil && !errors.Is(err, context.Canceled) {
			fail(err)
		}
	}()
	return func() { stop(); <-ended }
}

func (t task) reconcile() {
	warmUp := newCalls(t.WarmUpObjects, 0)
	stop := t.controlled(t.WarmUpNamespace, warmUp)
	<-warmUp.all
	stop()
	measured := newCalls(t.Objects, 0)
	begun := now()
	t.controlled(t.Namespace, measured)
	<-measured.all
	ended := now()
	measured.lock.Lock()
	defer measured.lock.Unlock()
	say(map[string]float64{
		"seconds":     ended.wall.Sub(begun.wall).Seconds(),
		"cpu_seconds": ended.cpu - begun.cpu,
		"peak_bytes":  peakBytes(),
		"calls":       float64(measured.count),
	})
}

func (t task) follow() {
	followed := newCalls(t.Objects, t.Writes)
	t.controlled(t.Namespace, followed)
	<-followed.all
	say(map[string]float64{})
	<-followed.seen
	followed.lock.Lock()
	defer followed.lock.Unlock()
	say(map[string]any{"moments": followed.moments})
}

func (t task) lead() {
	made := t.manager(t.Namespace, manager.Options{
		LeaderElection:          true,
		LeaderElectionID:        t.Lease,
		LeaderElectionNamespace: t.Namespace,
		LeaseDuration:           seconds(t.LeaseDuration),
		RenewDeadline:           seconds(t.RenewDeadline),
		RetryPeriod:             seconds(t.RetryPeriod),
	})
	say(map[string]float64{})
	start(made)
	<-made.Elected()
	say(map[string]float64{"leads": monotonic()})
	select {}
}

func main() {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	line, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	if err != nil {
		fail(err)
	}
	var t task
	if err := json.Unmarshal(line, &t); err != nil {
		fail(err)
	}
	switch t.Job {
	case "reconcile":
		t.reconcile()
	case "follow":
		t.follow()
	case "lead":
		t.lead()
	default:
		fail("unknown job " + t.Job)
	}
}
