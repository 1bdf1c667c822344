// The recovery benchmark's contestants in Go: the kubelet's watching manager, and client-go's
// shared informers, each of a single object.
//
// benchmarks/recovery_work.py says what is asked and answered, and is the same thing in Python.
package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/configmap"
)

// How often the kubelet's manager, which tells nobody of changes, is looked at.
const lookEvery = 100 * time.Millisecond

// The dialer that client-go makes when it is given none.
var dialer = net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}

type question struct {
	Ask      string `json:"ask"`
	Sequence string `json:"sequence"`
}

// recovery is when connections were attempted, and when each object first showed the change.
// Moments are of CLOCK_MONOTONIC, which all processes of a machine share.
type recovery struct {
	objects int

	lock     sync.Mutex
	sequence string
	attempts []float64
	live     map[string]float64
	lookCPU  float64 // of the thread that looks
	cpu      float64 // when the last object was live
}

func monotonic() float64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		fail(err)
	}
	return time.Duration(now.Nano()).Seconds()
}

func threadCPU() float64 {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		fail(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}

// client counts every connection that it tries to make.
func (r *recovery) client(config *rest.Config) kubernetes.Interface {
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		moment := monotonic()
		r.lock.Lock()
		r.attempts = append(r.attempts, moment)
		r.lock.Unlock()
		return dialer.DialContext(ctx, network, address)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	return client
}

func (r *recovery) note(object *v1.ConfigMap) {
	moment := monotonic()
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.sequence == "" || object.Data["sequence"] != r.sequence {
		return
	}
	if _, known := r.live[object.Name]; known {
		return
	}
	r.live[object.Name] = moment
	if len(r.live) == r.objects {
		r.cpu = now().cpu - r.lookCPU
	}
}

// inform has a shared informer for each object.
func (r *recovery) inform(t task, client kubernetes.Interface) {
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(added any) { r.note(added.(*v1.ConfigMap)) },
		UpdateFunc: func(_, changed any) { r.note(changed.(*v1.ConfigMap)) },
	}
	synced := make([]cache.DoneChecker, t.Objects)
	for number := range synced {
		only := func(options *metav1.ListOptions) {
			options.FieldSelector = "metadata.name=" + objectName(number)
		}
		informer := informers.NewSharedInformerFactoryWithOptions(
			client, 0, informers.WithNamespace(t.Namespace), informers.WithTweakListOptions(only),
		).Core().V1().ConfigMaps().Informer()
		if _, err := informer.AddEventHandler(handler); err != nil {
			fail(err)
		}
		synced[number] = informer.HasSyncedChecker()
		go informer.Run(wait.NeverStop)
	}
	for _, each := range synced {
		<-each.Done()
	}
}

// look reads what is not live yet again and again. What that costs is its own thread's.
func (r *recovery) look(t task, configMaps configmap.Manager) {
	runtime.LockOSThread()
	before := threadCPU()
	left := make([]string, t.Objects)
	for number := range left {
		left[number] = objectName(number)
	}
	for len(left) > 0 {
		var later []string
		for _, name := range left {
			found, err := configMaps.GetConfigMap(t.Namespace, name)
			if err == nil && found.Data["sequence"] == r.sequence {
				r.note(found)
			} else {
				later = append(later, name)
			}
		}
		left = later
		r.lock.Lock()
		r.lookCPU = threadCPU() - before
		r.lock.Unlock()
		time.Sleep(lookEvery)
	}
}

func (t task) recover() {
	klog.SetOutput(io.Discard)
	r := &recovery{objects: t.Objects, live: map[string]float64{}}
	client := r.client(t.config())
	look := func() {}
	if t.Strategy == "informers" {
		r.inform(t, client)
	} else {
		configMaps := configmap.NewWatchingConfigMapManager(client, syncFrequency)
		for _, user := range t.users(t.Namespace, t.Objects) {
			configMaps.RegisterPod(user)
		}
		get := func(namespace, name string) (string, error) {
			found, err := configMaps.GetConfigMap(namespace, name)
			if err != nil {
				return "", err
			}
			return found.Name, nil
		}
		readAll(manager{get: get}, t.Namespace, t.Objects)
		look = func() { go r.look(t, configMaps) }
	}
	say(map[string]any{})
	r.answerAll(t, look)
}

func (r *recovery) answerAll(t task, look func()) {
	for {
		line, err := t.input.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			fail(err)
		}
		r.lock.Lock()
		switch asked.Ask {
		case "expect":
			r.sequence = asked.Sequence
			say(map[string]any{"cpu_seconds": now().cpu})
		case "live":
			// From now on, as the server is about to return.
			look()
			look = func() {}
			say(map[string]any{"live": len(r.live)})
		case "report":
			if r.cpu == 0 {
				r.cpu = now().cpu - r.lookCPU
			}
			moments := []float64{}
			for _, moment := range r.live {
				moments = append(moments, moment)
			}
			say(map[string]any{"live": moments, "attempts": r.attempts, "cpu_seconds": r.cpu})
		default:
			fail("unknown question " + asked.Ask)
		}
		r.lock.Unlock()
	}
}
