package control

import (
	"errors"
	"os"
	"testing"
)

const (
	deployments = "/apis/apps/v1/namespaces/default/deployments"
	pods        = "/api/v1/namespaces/default/pods"
)

var cluster *TestControl

func web(replicas int) Object {
	labels := Object{"app": "web"}
	containers := []Object{{"name": "web", "image": "web:1"}}
	template := Object{"metadata": Object{"labels": labels}, "spec": Object{"containers": containers}}
	spec := Object{"replicas": replicas, "selector": Object{"matchLabels": labels}, "template": template}
	return Object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": Object{"name": "web"}, "spec": spec}
}

func prepare() error {
	var err error
	if cluster, err = Connect(); err != nil {
		return err
	}
	if err := cluster.Reset("empty"); err != nil {
		return err
	}
	if _, err := cluster.Kube("POST", deployments, web(2)); err != nil {
		return err
	}
	if err := cluster.Advance("10s"); err != nil {
		return err
	}
	return cluster.Snapshot("go-web")
}

func TestMain(m *testing.M) {
	if err := prepare(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// begin gives each test the prepared state.
func begin(t *testing.T) {
	t.Helper()
	must(t, cluster.Reset("go-web"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kube(t *testing.T, method, path string, body any) Object {
	t.Helper()
	answer, err := cluster.Kube(method, path, body)
	must(t, err)
	return answer
}

func listPods(t *testing.T) []any {
	t.Helper()
	return kube(t, "GET", pods, nil)["items"].([]any)
}

func TestDeletedDeployment(t *testing.T) {
	begin(t)
	kube(t, "DELETE", deployments+"/web", nil)
	must(t, cluster.Advance("1m"))
	if left := listPods(t); len(left) != 0 {
		t.Errorf("%d Pods are left", len(left))
	}
}

func TestNextTestHasItsPods(t *testing.T) {
	begin(t)
	if found := listPods(t); len(found) != 2 {
		t.Errorf("there are %d Pods", len(found))
	}
}

func TestPodsOfALostNodeAreReplaced(t *testing.T) {
	begin(t)
	lost := nodeOf(listPods(t)[0])
	must(t, cluster.CutOff(lost))
	must(t, cluster.Advance("7m"))
	elsewhere := 0
	for _, pod := range listPods(t) {
		if nodeOf(pod) != lost && pod.(Object)["status"].(Object)["phase"] == "Running" {
			elsewhere++
		}
	}
	if elsewhere != 2 {
		t.Errorf("%d Pods run on other nodes", elsewhere)
	}
}

func nodeOf(pod any) string { return pod.(Object)["spec"].(Object)["nodeName"].(string) }

func TestInjectedConflict(t *testing.T) {
	begin(t)
	match := Object{"verb": "update", "resource": "deployments"}
	must(t, cluster.AddFault(Object{"match": match, "status": Object{"code": 409}, "times": 1}))
	deployment := kube(t, "GET", deployments+"/web", nil)
	deployment["spec"].(Object)["replicas"] = 3
	_, err := cluster.Kube("PUT", deployments+"/web", deployment)
	var rejected *Rejected
	if !errors.As(err, &rejected) || rejected.Code != 409 {
		t.Fatalf("the first update has the error %v", err)
	}
	kube(t, "PUT", deployments+"/web", deployment)
	must(t, cluster.Advance("10s"))
	if found := listPods(t); len(found) != 3 {
		t.Errorf("there are %d Pods", len(found))
	}
}
