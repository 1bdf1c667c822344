// The managers and idle benchmarks' contestants from the kubelet: its managers, by watches or, for
// ConfigMaps that nobody changes, by any of its strategies. The recovery benchmark's have a file of
// their own.
//
// Reads one task from standard input and writes one answer to standard output, both a line of
// JSON; benchmarks/managers_work.py says what they mean and is the same thing in Python.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/configmap"
	"k8s.io/kubernetes/pkg/kubelet/secret"
)

// The kubelet asks for protobuf and takes JSON where there is none.
const (
	protobufType = "application/vnd.kubernetes.protobuf"
	acceptTypes  = protobufType + ",application/json"
)

// The kubelet's default for how often it looks at each pod.
const syncFrequency = time.Minute

// The part of a period that one may be late with looking at pods.
const mostLate = 1.0 / 6

type task struct {
	input           *bufio.Reader
	Job             string  `json:"job"`
	Kind            string  `json:"kind"`
	Strategy        string  `json:"strategy"`
	URL             string  `json:"url"`
	CAFile          string  `json:"ca_file"`
	Token           string  `json:"token"`
	Namespace       string  `json:"namespace"`
	WarmUpNamespace string  `json:"warm_up_namespace"`
	Objects         int     `json:"objects"`
	WarmUpObjects   int     `json:"warm_up_objects"`
	References      int     `json:"references"`
	Reads           int     `json:"reads"`
	Pods            int     `json:"pods"`
	Rounds          int     `json:"rounds"`
	Settle          float64 `json:"settle"`
	Users           int     `json:"users"`
	Period          float64 `json:"period"`
	TTL             float64 `json:"ttl"`
	Agent           string  `json:"agent"`
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

func (t task) config() *rest.Config {
	return &rest.Config{
		Host:            t.URL,
		BearerToken:     t.Token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: t.CAFile},
		ContentConfig:   rest.ContentConfig{ContentType: protobufType, AcceptContentTypes: acceptTypes},
		QPS:             -1,
		UserAgent:       t.Agent,
	}
}

func (t task) client() kubernetes.Interface {
	client, err := kubernetes.NewForConfig(t.config())
	if err != nil {
		fail(err)
	}
	return client
}

// manager is what both managers are; get gives the name of what it found.
type manager struct {
	register, unregister func(*v1.Pod)
	get                  func(namespace, name string) (string, error)
}

func (t task) manager() manager {
	if t.Kind == "Secret" {
		secrets := secret.NewWatchingSecretManager(t.client(), syncFrequency)
		get := func(namespace, name string) (string, error) {
			found, err := secrets.GetSecret(namespace, name)
			if err != nil {
				return "", err
			}
			return found.Name, nil
		}
		return manager{secrets.RegisterPod, secrets.UnregisterPod, get}
	}
	configMaps := t.configMaps()
	get := func(namespace, name string) (string, error) {
		found, err := configMaps.GetConfigMap(namespace, name)
		if err != nil {
			return "", err
		}
		return found.Name, nil
	}
	return manager{configMaps.RegisterPod, configMaps.UnregisterPod, get}
}

// configMaps is the manager of one of the kubelet's three strategies; watching is its default.
func (t task) configMaps() configmap.Manager {
	switch t.Strategy {
	case "get":
		return configmap.NewSimpleConfigMapManager(t.client())
	case "cache":
		ttl := func() (time.Duration, bool) { return seconds(t.TTL), true }
		return configmap.NewCachingConfigMapManager(t.client(), ttl)
	default:
		return configmap.NewWatchingConfigMapManager(t.client(), syncFrequency)
	}
}

func seconds(count float64) time.Duration {
	return time.Duration(count * float64(time.Second))
}

func objectName(number int) string {
	return fmt.Sprintf("settings-%05d", number)
}

// pod refers to some objects in a row, from one on and beginning again at the end.
func (t task) pod(namespace string, number, first, objects int) *v1.Pod {
	sources := make([]v1.EnvFromSource, min(t.References, objects))
	for position := range sources {
		object := v1.LocalObjectReference{Name: objectName((first + position) % objects)}
		if t.Kind == "Secret" {
			sources[position].SecretRef = &v1.SecretEnvSource{LocalObjectReference: object}
		} else {
			sources[position].ConfigMapRef = &v1.ConfigMapEnvSource{LocalObjectReference: object}
		}
	}
	name := fmt.Sprintf("pod-%05d", number)
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid of " + name)},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "app", EnvFrom: sources}}},
	}
}

// users refer to every object once.
func (t task) users(namespace string, objects int) []*v1.Pod {
	var users []*v1.Pod
	for first := 0; first < objects; first += t.References {
		users = append(users, t.pod(namespace, len(users), first, objects))
	}
	return users
}

// read gets an object, and once more as long as it is not there in time.
func read(manager manager, namespace, name string) string {
	for {
		found, err := manager.get(namespace, name)
		if err == nil {
			return found
		}
		if !strings.Contains(err.Error(), "failed to sync") {
			fail(err)
		}
	}
}

func readAll(manager manager, namespace string, objects int) {
	for number := range objects {
		name := objectName(number)
		if found := read(manager, namespace, name); found != name {
			fail("asked for " + name + ", got " + found)
		}
	}
}

func (t task) warmUp(manager manager) {
	users := t.users(t.WarmUpNamespace, t.WarmUpObjects)
	for _, user := range users {
		manager.register(user)
	}
	readAll(manager, t.WarmUpNamespace, t.WarmUpObjects)
	for _, user := range users {
		manager.unregister(user)
	}
	time.Sleep(seconds(t.Settle))
}

// hold has every object watched, and says how long that took and what it costs.
func (t task) hold(manager manager, figures map[string]float64) {
	users := t.users(t.Namespace, t.Objects)
	before := residentBytes()
	begun := now()
	for _, user := range users {
		manager.register(user)
	}
	readAll(manager, t.Namespace, t.Objects)
	figures["sync_cpu_seconds"], figures["sync_seconds"] = begun.spent()
	time.Sleep(seconds(t.Settle))
	figures["bytes_per_object"] = float64(residentBytes()-before) / float64(t.Objects)
	figures["peak_bytes"] = float64(peakBytes())
	figures["sockets"] = float64(openSockets())
}

func (t task) read(manager manager, figures map[string]float64) {
	names := make([]string, t.Objects)
	for number := range names {
		names[number] = objectName(number)
	}
	for range 2 { // the first time only warms up
		begun := now()
		for number := range t.Reads {
			if _, err := manager.get(t.Namespace, names[number%t.Objects]); err != nil {
				fail(err)
			}
		}
		cpu, wall := begun.spent()
		figures["reads_per_second"] = float64(t.Reads) / wall
		figures["reads_per_cpu_second"] = float64(t.Reads) / cpu
	}
}

// register has pods come and go whose objects others refer to as well, so that no watch does.
func (t task) register(manager manager, figures map[string]float64) {
	pods := make([]*v1.Pod, t.Pods)
	for number := range pods {
		pods[number] = t.pod(t.Namespace, number+t.Objects, number*t.References, t.Objects)
	}
	begun := now()
	for range t.Rounds {
		for _, each := range pods {
			manager.register(each)
		}
		for _, each := range pods {
			manager.unregister(each)
		}
	}
	cpu, wall := begun.spent()
	changes := float64(2 * t.Pods * t.Rounds)
	figures["registrations_per_second"] = changes / wall
	figures["registrations_per_cpu_second"] = changes / cpu
}

// idle has every object kept for a number of users, and says what it has used of the processor so
// far, once for every line it is sent; from the first one on it looks at each pod once in a period.
// benchmarks/idle_managers.py is the same thing in Python.
func (t task) idle(manager manager) {
	var firsts []int
	for range t.Users {
		for first := 0; first < t.Objects; first += t.References {
			manager.register(t.pod(t.Namespace, len(firsts), first, t.Objects))
			firsts = append(firsts, first)
		}
	}
	readAll(manager, t.Namespace, t.Objects)
	answer(map[string]float64{})
	for asked := 0; ; asked++ {
		if _, err := t.input.ReadBytes('\n'); err != nil {
			return
		}
		if asked == 0 {
			go t.look(manager, firsts)
		}
		answer(map[string]float64{"cpu_seconds": now().cpu})
	}
}

// look reads what pods refer to, each pod once in a period, evenly spread.
func (t task) look(manager manager, firsts []int) {
	begun := time.Now()
	for turn := 0; ; turn++ {
		early := time.Until(begun.Add(seconds(float64(turn) * t.Period / float64(len(firsts)))))
		if early < -seconds(t.Period*mostLate) {
			fail(fmt.Sprintf("it fell %s behind: the machine is too busy", -early))
		}
		time.Sleep(early)
		first := firsts[turn%len(firsts)]
		for number := first; number < first+t.References; number++ {
			if _, err := manager.get(t.Namespace, objectName(number%t.Objects)); err != nil {
				fail(err)
			}
		}
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

func openSockets() int {
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		fail(err)
	}
	count := 0
	for _, descriptor := range descriptors {
		target, err := os.Readlink("/proc/self/fd/" + descriptor.Name())
		if err == nil && strings.HasPrefix(target, "socket:") {
			count++
		}
	}
	return count
}

func main() {
	// Thousands of watches that end at once would otherwise fill standard error.
	flags := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{"-stderrthreshold=FATAL", "-logtostderr=false"}); err != nil {
		fail(err)
	}
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		fail(err)
	}
	t := task{input: input}
	if err := json.Unmarshal(line, &t); err != nil {
		fail(err)
	}
	if t.Job == "recover" {
		t.recover()
		return
	}
	manager := t.manager()
	if t.Job == "idle" {
		t.idle(manager)
		return
	}
	figures := map[string]float64{}
	t.warmUp(manager)
	t.hold(manager, figures)
	t.read(manager, figures)
	t.register(manager, figures)
	answer(figures)
}
