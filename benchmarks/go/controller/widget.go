package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kind of benchmarks/controllers_objects.py, as kubebuilder would write it.
var groupVersion = schema.GroupVersion{Group: "bench.example.com", Version: "v1"}

type widgetSpec struct {
	Payload  string `json:"payload,omitempty"`
	Sequence string `json:"sequence,omitempty"`
}

type widgetStatus struct {
	Observed string `json:"observed,omitempty"`
}

type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              widgetSpec   `json:"spec,omitempty"`
	Status            widgetStatus `json:"status,omitempty"`
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []widget `json:"items"`
}

func (w *widget) DeepCopy() *widget {
	made := *w
	w.ObjectMeta.DeepCopyInto(&made.ObjectMeta)
	return &made
}

func (w *widget) DeepCopyObject() runtime.Object { return w.DeepCopy() }

func (l *widgetList) DeepCopyObject() runtime.Object {
	made := *l
	l.ListMeta.DeepCopyInto(&made.ListMeta)
	made.Items = make([]widget, len(l.Items))
	for number := range l.Items {
		made.Items[number] = *l.Items[number].DeepCopy()
	}
	return &made
}

func addToScheme(kinds *runtime.Scheme) error {
	kinds.AddKnownTypeWithName(groupVersion.WithKind("Widget"), &widget{})
	kinds.AddKnownTypeWithName(groupVersion.WithKind("WidgetList"), &widgetList{})
	metav1.AddToGroupVersion(kinds, groupVersion)
	return nil
}
