// Command go_types prints what only the Go types of the Kubernetes API know: the Go name of every
// type, which fields are pointers, what is left out when empty, what is embedded, and the numbers
// and names of the binary encoding.
//
//	go run . > types.json
//
// The same program always prints the same bytes.  tools/record_schemas.py runs it.
package main

import (
	"encoding/json"
	"log"
	"os"
	"reflect"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscaling1 "k8s.io/api/autoscaling/v1"
	autoscaling2 "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	resource "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	registration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var roots = []any{
	core.Namespace{}, core.ConfigMap{}, core.Secret{}, core.Pod{}, core.Service{}, core.Node{},
	core.Event{}, core.ServiceAccount{}, core.Endpoints{}, core.PersistentVolume{},
	core.PersistentVolumeClaim{}, core.ReplicationController{}, core.ResourceQuota{},
	core.LimitRange{}, core.PodTemplate{}, core.Binding{}, core.ComponentStatus{},
	apps.Deployment{}, apps.ReplicaSet{}, apps.StatefulSet{}, apps.DaemonSet{},
	apps.ControllerRevision{},
	batch.Job{}, batch.CronJob{}, coordination.Lease{}, events.Event{},
	discovery.EndpointSlice{}, networking.Ingress{}, networking.IngressClass{},
	networking.NetworkPolicy{}, networking.IPAddress{}, networking.ServiceCIDR{},
	policy.PodDisruptionBudget{}, policy.Eviction{},
	rbac.Role{}, rbac.RoleBinding{}, rbac.ClusterRole{}, rbac.ClusterRoleBinding{},
	autoscaling1.HorizontalPodAutoscaler{}, autoscaling2.HorizontalPodAutoscaler{},
	autoscaling1.Scale{}, storage.StorageClass{}, scheduling.PriorityClass{},
	authentication.TokenRequest{}, authentication.TokenReview{},
	authentication.SelfSubjectReview{}, authorization.SelfSubjectAccessReview{},
	authorization.SelfSubjectRulesReview{}, authorization.SubjectAccessReview{},
	authorization.LocalSubjectAccessReview{},
	admission.MutatingWebhookConfiguration{}, admission.ValidatingWebhookConfiguration{},
	admission.ValidatingAdmissionPolicy{}, admission.ValidatingAdmissionPolicyBinding{},
	admission.MutatingAdmissionPolicy{}, admission.MutatingAdmissionPolicyBinding{},
	certificates.CertificateSigningRequest{}, flowcontrol.FlowSchema{},
	flowcontrol.PriorityLevelConfiguration{}, node.RuntimeClass{},
	resource.DeviceClass{}, resource.ResourceClaim{}, resource.ResourceClaimTemplate{},
	resource.ResourceSlice{}, storage.CSIDriver{}, storage.CSINode{},
	storage.CSIStorageCapacity{}, storage.VolumeAttachment{}, storage.VolumeAttributesClass{},
	extensions.CustomResourceDefinition{}, registration.APIService{},
	meta.DeleteOptions{}, meta.ListMeta{},
}

// Structs that read and write JSON in a way of their own.
var leaves = map[string]string{
	"v1.Time": "time", "v1.MicroTime": "microTime", "resource.Quantity": "quantity",
	"intstr.IntOrString": "intOrString", "v1.FieldsV1": "anything",
	"runtime.RawExtension": "anything", "v1.JSON": "anything",
	"v1.JSONSchemaPropsOrBool": "anything", "v1.JSONSchemaPropsOrArray": "anything",
	"v1.JSONSchemaPropsOrStringArray": "anything", "v1.Duration": "duration",
}

type field struct {
	Name          string `json:"name"`
	Embedded      string `json:"embedded,omitempty"`
	Go            string `json:"go"`
	Shape         shape  `json:"shape"`
	Pointer       bool   `json:"pointer,omitempty"`
	OmitEmpty     bool   `json:"omitEmpty,omitempty"`
	OmitZero      bool   `json:"omitZero,omitempty"`
	Wire          string `json:"wire,omitempty"`
	PatchStrategy string `json:"patchStrategy,omitempty"`
	PatchMergeKey string `json:"patchMergeKey,omitempty"`
}

type shape struct {
	Kind string `json:"kind"`
	Type string `json:"type,omitempty"` // of a struct
	Of   *shape `json:"of,omitempty"`   // of a list or a map
	Go   string `json:"go,omitempty"`   // of what a list or a map holds
}

var found = map[string][]field{}

func main() {
	for _, root := range roots {
		visit(reflect.TypeOf(root))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(found); err != nil {
		log.Fatal(err)
	}
}

func visit(of reflect.Type) {
	if _, known := found[name(of)]; known {
		return
	}
	found[name(of)] = []field{}
	fields := []field{}
	for index := range of.NumField() {
		member := of.Field(index)
		if !member.IsExported() {
			continue
		}
		label, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		if label == "-" {
			continue
		}
		kind := member.Type
		pointer := kind.Kind() == reflect.Pointer
		if pointer {
			kind = kind.Elem()
		}
		one := field{
			Name: label, Go: kind.String(), Shape: shapeOf(kind), Pointer: pointer,
			OmitEmpty: hasOption(options, "omitempty"), OmitZero: hasOption(options, "omitzero"),
			Wire: member.Tag.Get("protobuf"), PatchStrategy: member.Tag.Get("patchStrategy"),
			PatchMergeKey: member.Tag.Get("patchMergeKey"),
		}
		if label == "" && member.Anonymous {
			one.Embedded = member.Name
		}
		fields = append(fields, one)
	}
	found[name(of)] = fields
}

func shapeOf(kind reflect.Type) shape {
	switch kind.Kind() {
	case reflect.Pointer:
		return shapeOf(kind.Elem())
	case reflect.Struct:
		if leaf, is := leaves[kind.String()]; is {
			return shape{Kind: leaf}
		}
		visit(kind)
		return shape{Kind: "object", Type: name(kind)}
	case reflect.Slice:
		if kind.Elem().Kind() == reflect.Uint8 {
			return shape{Kind: "bytes"}
		}
		inner := shapeOf(kind.Elem())
		return shape{Kind: "list", Of: &inner, Go: kind.Elem().String()}
	case reflect.Map:
		inner := shapeOf(kind.Elem())
		return shape{Kind: "map", Of: &inner, Go: kind.Elem().String()}
	default:
		return shape{Kind: kind.Kind().String()}
	}
}

// The name that the server's OpenAPI documents use.
func name(of reflect.Type) string {
	host, rest, _ := strings.Cut(of.PkgPath(), "/")
	labels := strings.Split(host, ".")
	for left, right := 0, len(labels)-1; left < right; left, right = left+1, right-1 {
		labels[left], labels[right] = labels[right], labels[left]
	}
	return strings.Join(labels, ".") + "." + strings.ReplaceAll(rest, "/", ".") + "." + of.Name()
}

func hasOption(options, wanted string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if option == wanted {
			return true
		}
	}
	return false
}
