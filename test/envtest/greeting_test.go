package greeting

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var object = apiextensionsv1.JSONSchemaProps{Type: "object"}

func definition() *apiextensionsv1.CustomResourceDefinition {
	name := apiextensionsv1.JSONSchemaProps{Type: "string", MinLength: new(int64)}
	*name.MinLength = 1
	spec := apiextensionsv1.JSONSchemaProps{
		Type:       "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{"name": name},
		Required:   []string{"name"},
	}
	text := map[string]apiextensionsv1.JSONSchemaProps{"text": {Type: "string"}}
	status := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: text}
	schema := object
	schema.Properties = map[string]apiextensionsv1.JSONSchemaProps{"spec": spec, "status": status}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "greetings.greeting.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: GroupVersion.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "greetings", Singular: "greeting", Kind: "Greeting", ListKind: "GreetingList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

func eventually(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 5*time.Minute, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func start(t *testing.T) (*envtest.Environment, client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	environment := &envtest.Environment{
		Scheme:                scheme,
		CRDInstallOptions:     envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition()}, Scheme: scheme},
		ErrorIfCRDPathMissing: true,
	}
	began := time.Now()
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("environment started in %v", time.Since(began))
	t.Cleanup(func() {
		stopping := time.Now()
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
		t.Logf("environment stopped in %v", time.Since(stopping))
	})
	clients, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return environment, clients
}

func TestOperator(t *testing.T) {
	environment, clients := start(t)
	manager, err := ctrl.NewManager(environment.Config, ctrl.Options{
		Scheme:  environment.Scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Reconciler{Client: manager.GetClient()}).SetupWithManager(manager); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- manager.Start(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	greeting := &Greeting{ObjectMeta: metav1.ObjectMeta{Name: "world", Namespace: "default"}}
	if err := clients.Create(ctx, greeting.DeepCopyObject().(*Greeting)); !apierrors.IsInvalid(err) {
		t.Fatalf("a Greeting without a name must be invalid, got %v", err)
	}
	greeting.Spec.Name = "world"
	if err := clients.Create(ctx, greeting); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(greeting)
	eventually(t, "status and ConfigMap", func(ctx context.Context) (bool, error) {
		configMap := &corev1.ConfigMap{}
		if err := clients.Get(ctx, key, configMap); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		if err := clients.Get(ctx, key, greeting); err != nil {
			return false, err
		}
		return configMap.Data["text"] == "Hello world" && greeting.Status.Text == "Hello world", nil
	})

	if err := clients.Delete(ctx, greeting); err != nil {
		t.Fatal(err)
	}
	eventually(t, "deletion", func(ctx context.Context) (bool, error) {
		err := clients.Get(ctx, key, greeting)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err := clients.Get(ctx, key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Fatalf("the ConfigMap must be deleted with its Greeting, got %v", err)
	}
}

func TestUsersAndNamespaces(t *testing.T) {
	environment, clients := start(t)
	user, err := environment.AddUser(envtest.User{Name: "jane", Groups: []string{"developers"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	jane, err := client.New(user.Config(), client.Options{Scheme: environment.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	if err := jane.List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Fatalf("jane must not list Secrets, got %v", err)
	}

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}}
	if err := clients.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	if err := clients.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("K8TS_ENVTEST_CONTROLLERS") == "" {
		return // Without controllers it stays in phase Terminating, as with kube-apiserver.
	}
	eventually(t, "namespace deletion", func(ctx context.Context) (bool, error) {
		err := clients.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}
