// The client-go contestant of several benchmarks: its shared informer, JSON or protobuf.
//
// Reads one task from standard input and writes answers to standard output, each a line of JSON;
// benchmarks/mirror_work.py says what they mean and is the same thing in Python.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	protobufType = "application/vnd.kubernetes.protobuf"
	jsonType     = "application/json"
)

type task struct {
	input           *bufio.Reader
	Job             string `json:"job"`
	Kind            string `json:"kind"`
	URL             string `json:"url"`
	CAFile          string `json:"ca_file"`
	Token           string `json:"token"`
	Namespace       string `json:"namespace"`
	WarmUpNamespace string `json:"warm_up_namespace"`
	Objects         int    `json:"objects"`
	Updates         int    `json:"updates"`
	WarmUp          int    `json:"warm_up"`
	LastName        string `json:"last_name"`
	LastVersion     string `json:"last_version"`
	Streaming       bool   `json:"streaming"`
	Protobuf        bool   `json:"protobuf"`
}

// How often this process has tried to connect.
var attempts atomic.Int64

// The dialer that client-go makes when it is given none.
var dialer = net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	attempts.Add(1)
	return dialer.DialContext(ctx, network, address)
}

type clocks struct {
	cpu  float64
	wall time.Time
}

func now() clocks {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail(err)
	}
	cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
	return clocks{cpu, time.Now()}
}

func (begun clocks) spent() (cpu, wall float64) {
	ended := now()
	return ended.cpu - begun.cpu, ended.wall.Sub(begun.wall).Seconds()
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}

func answer(figures map[string]float64) {
	say(figures)
}

func say(message any) {
	if err := json.NewEncoder(os.Stdout).Encode(message); err != nil {
		fail(err)
	}
}

// informer makes one for a namespace, as an informer factory would.
func (t task) informer(namespace string) cache.SharedIndexInformer {
	contentType := jsonType
	if t.Protobuf {
		contentType = protobufType
	}
	config := rest.Config{
		Host:            t.URL,
		BearerToken:     t.Token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: t.CAFile},
		ContentConfig:   rest.ContentConfig{ContentType: contentType, AcceptContentTypes: contentType},
		QPS:             -1,
	}
	if t.Job == "follow" { // for nobody else: clients with a dialer of their own share no connections
		config.Dial = dial
	}
	client, err := kubernetes.NewForConfig(&config)
	if err != nil {
		fail(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(
		client, 0, informers.WithNamespace(namespace))
	if t.Kind == "Pod" {
		return factory.Core().V1().Pods().Informer()
	}
	return factory.Core().V1().ConfigMaps().Informer()
}

// synced runs an informer until its store is full, and says how to stop it.
func synced(informer cache.SharedIndexInformer) context.CancelFunc {
	running, stop := context.WithCancel(context.Background())
	go informer.RunWithContext(running)
	// Not WaitForCacheSync, which looks every 100 ms.
	<-informer.HasSyncedChecker().Done()
	return stop
}

func (t task) check(informer cache.SharedIndexInformer) {
	if held := len(informer.GetStore().ListKeys()); held != t.Objects {
		fail(fmt.Sprintf("%d of %d objects are held", held, t.Objects))
	}
}

func (t task) events() {
	informer := t.informer(t.Namespace)
	done := make(chan map[string]float64, 1)
	var begun clocks
	count := 0
	handle := func() {
		count++
		switch count {
		case t.WarmUp:
			begun = now()
		case t.Updates:
			cpu, wall := begun.spent()
			events := float64(t.Updates - t.WarmUp)
			done <- map[string]float64{
				"events_per_second": events / wall,
				"cpu_microseconds":  cpu / events * 1e6,
			}
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, _ any) { handle() },
	}); err != nil {
		fail(err)
	}
	defer synced(informer)()
	figures := <-done
	t.check(informer)
	held, _, err := informer.GetStore().GetByKey(t.Namespace + "/" + t.LastName)
	if err != nil {
		fail(err)
	}
	last, err := meta.Accessor(held)
	if err != nil {
		fail(err)
	}
	if last.GetResourceVersion() != t.LastVersion {
		fail(fmt.Sprintf("%s is at version %s, not %s",
			t.LastName, last.GetResourceVersion(), t.LastVersion))
	}
	answer(figures)
}

func (t task) memory() {
	synced(t.informer(t.WarmUpNamespace))()
	before := residentBytes()
	informer := t.informer(t.Namespace)
	defer synced(informer)()
	t.check(informer)
	answer(map[string]float64{
		"bytes_per_object": float64(residentBytes()-before) / float64(t.Objects),
		"peak_bytes":       float64(peakBytes()),
	})
	runtime.KeepAlive(informer)
}

// sync has a client to warm it up and one that is measured, because every client has connections
// of its own: what is measured begins with a new connection for everybody.
func (t task) sync() {
	synced(t.informer(t.WarmUpNamespace))()
	informer := t.informer(t.Namespace)
	begun := now()
	defer synced(informer)()
	cpu, wall := begun.spent()
	t.check(informer)
	answer(map[string]float64{"seconds": wall, "cpu_seconds": cpu})
}

// idle holds a collection that nobody changes, and says what it has used of the processor so far,
// once for every line it is sent; benchmarks/idle_work.py is the same thing in Python.
func (t task) idle() {
	informer := t.informer(t.Namespace)
	defer synced(informer)()
	t.check(informer)
	answer(map[string]float64{})
	for {
		if _, err := t.input.ReadBytes('\n'); err != nil {
			return
		}
		answer(map[string]float64{"cpu_seconds": now().cpu})
	}
}

// follow keeps a collection, and says the version of everything that it holds, and how often it has
// tried to connect, once for every line it is sent; benchmarks/fault_work.py is the same thing in
// Python.
func (t task) follow() {
	informer := t.informer(t.Namespace)
	defer synced(informer)()
	answer(map[string]float64{})
	for {
		if _, err := t.input.ReadBytes('\n'); err != nil {
			return
		}
		held := map[string]string{}
		for _, each := range informer.GetStore().List() {
			object, err := meta.Accessor(each)
			if err != nil {
				fail(err)
			}
			held[object.GetName()] = object.GetResourceVersion()
		}
		say(map[string]any{"held": held, "ended": "", "attempts": attempts.Load()})
	}
}

func residentBytes() int {
	runtime.GC()
	debug.FreeOSMemory()
	content, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fail(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(content))[1])
	if err != nil {
		fail(err)
	}
	return pages * os.Getpagesize()
}

func peakBytes() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail(err)
	}
	return used.Maxrss * 1024
}

func main() {
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		fail(err)
	}
	t := task{input: input}
	if err := json.Unmarshal(line, &t); err != nil {
		fail(err)
	}
	// Read by client-go when it is first asked for a feature.
	os.Setenv("KUBE_FEATURE_WatchListClient", strconv.FormatBool(t.Streaming))
	switch t.Job {
	case "events":
		t.events()
	case "memory":
		t.memory()
	case "sync":
		t.sync()
	case "idle":
		t.idle()
	case "follow":
		t.follow()
	default:
		fail("unknown job " + t.Job)
	}
}
