// Package greeting is a small operator: for each Greeting it keeps a ConfigMap with the text, reports it in the status, and removes it
// with a finalizer.
package greeting

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// GroupVersion of the operator's own kind.
var GroupVersion = schema.GroupVersion{Group: "greeting.example.com", Version: "v1"}

const finalizer = "greeting.example.com/cleanup"

// Greeting is the operator's own kind.
type Greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec   `json:"spec,omitempty"`
	Status            Status `json:"status,omitempty"`
}

// Spec is the desired state.
type Spec struct {
	Name string `json:"name"`
}

// Status is the observed state.
type Status struct {
	Text string `json:"text,omitempty"`
}

// GreetingList is a list of Greetings.
type GreetingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Greeting `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (g *Greeting) DeepCopyObject() runtime.Object {
	out := *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (l *GreetingList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Greeting, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Greeting)
	}
	return &out
}

// AddToScheme registers the kind.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Greeting{}, &GreetingList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Reconciler keeps the ConfigMap of a Greeting.
type Reconciler struct {
	client.Client
}

// SetupWithManager starts watching.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(&Greeting{}).Owns(&corev1.ConfigMap{}).Complete(r)
}

// Reconcile handles one Greeting.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	greeting := &Greeting{}
	if err := r.Get(ctx, request.NamespacedName, greeting); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: greeting.Name, Namespace: greeting.Namespace}}
	if !greeting.DeletionTimestamp.IsZero() {
		if err := r.Delete(ctx, configMap); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(greeting, finalizer)
		return ctrl.Result{}, r.Update(ctx, greeting)
	}
	if controllerutil.AddFinalizer(greeting, finalizer) {
		return ctrl.Result{}, r.Update(ctx, greeting)
	}
	text := "Hello " + greeting.Spec.Name
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, configMap, func() error {
		configMap.Data = map[string]string{"text": text}
		return controllerutil.SetControllerReference(greeting, configMap, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if greeting.Status.Text == text {
		return ctrl.Result{}, nil
	}
	greeting.Status.Text = text
	return ctrl.Result{}, r.Status().Update(ctx, greeting)
}
