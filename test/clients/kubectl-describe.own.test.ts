/** The real kubectl describes each kind: it reads the object and related ones, and prints the fields it knows. */
import { equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { aConfigMap, aDeployment, aNode, aPod, aService } from "../../src/testing/clients/manifests.ts";

const server = await startTestApiServer();
after(() => server.close());

/** With columns one space apart. */
function squeezed(text: string): string {
  return text.replace(/ {2,}/g, " ").replace(/[ \t]+$/gm, "");
}

test("kubectl describe shows a Deployment with its ReplicaSets and events", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("describe-deployment");
  await kubectl("create -f -", { input: aDeployment("web", { replicas: 2 }) });

  const text = squeezed(await kubectl("describe deployment web"));

  match(
    text,
    /^Name: web\nNamespace: describe-deployment\nCreationTimestamp: .*\nLabels: app=web\nAnnotations: <none>\nSelector: app=web\n/,
  );
  match(text, /^Replicas: 2 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable$/m);
  match(text, /^StrategyType: RollingUpdate\nMinReadySeconds: 0\nRollingUpdateStrategy: 25% max unavailable, 25% max surge\n/m);
  match(text, /^ web:\n Image: example\/web:1\n/m);
});

test("kubectl describe shows a pod with its container, volumes, conditions and events", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("describe-pod");
  const container = {
    name: "main",
    image: "example/app:1",
    env: [{ name: "A", value: "1" }],
    volumeMounts: [{ name: "data", mountPath: "/data" }],
  };
  await kubectl("create -f -", {
    input: aPod("app", { containers: [container], volumes: [{ name: "data", emptyDir: {} }], nodeSelector: { disk: "fast" } }),
  });
  const uid = await kubectl("get pod app -o jsonpath={.metadata.uid}");
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "app.1" },
    involvedObject: { apiVersion: "v1", kind: "Pod", name: "app", namespace: "describe-pod", uid },
    type: "Warning",
    reason: "FailedScheduling",
    message: "no nodes available",
    source: { component: "scheduler" },
    lastTimestamp: "2026-01-01T00:00:00Z",
    count: 1,
  };
  await kubectl("create -f -", { input: event });

  const text = squeezed(await kubectl("describe pod app"));

  match(text, /^Name: app\nNamespace: describe-pod\nPriority: 0\nService Account: default\nNode: <none>\nLabels: app=app\n/);
  match(text, /^Status: Pending$/m);
  match(text, /^ Environment:\n A: 1\n Mounts:\n \/data from data \(rw\)\n/m);
  match(text, /^Volumes:\n data:\n Type: EmptyDir \(a temporary directory that shares a pod's lifetime\)$/m);
  match(text, /^QoS Class: BestEffort\nNode-Selectors: disk=fast\n/m);
  match(text, /^Events:\n Type Reason Age From Message\n [- ]+\n Warning FailedScheduling \S+ scheduler no nodes available$/m);
});

test("kubectl describe shows a ConfigMap, a Secret, a Node, a Namespace and a Lease", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("describe-small");
  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "leader" },
    spec: { holderIdentity: "me", leaseDurationSeconds: 15 },
  };
  await kubectl("create -f -", { input: aConfigMap("settings", { a: "one\ntwo" }) });
  await kubectl("create secret generic keys --from-literal=a=secret");
  await kubectl("create -f -", { input: lease });
  await kubectl("create -f -", { input: aNode("described") });
  await server.kubectl("create -f -", { input: { ...lease, metadata: { name: "described", namespace: "kube-node-lease" } } });

  equal(
    squeezed(await kubectl("describe configmap settings")),
    "Name: settings\nNamespace: describe-small\nLabels: <none>\nAnnotations: <none>\n\nData\n====\na:\n----\none\ntwo\n\n\nBinaryData\n====\n\nEvents: <none>\n",
  );
  match(squeezed(await kubectl("describe secret keys")), /^Type: Opaque\n\nData\n====\na: 6 bytes\n$/m);
  match(
    squeezed(await kubectl("describe namespace describe-small")),
    /^Labels: kubernetes\.io\/metadata\.name=describe-small\nAnnotations: <none>\nStatus: Active\n/m,
  );
  match(squeezed(await kubectl("describe lease leader")), /^Spec:\n Holder Identity: me\n Lease Duration Seconds: 15\n/m);
  match(squeezed(await kubectl("describe node described")), /^Unschedulable: false\nLease:\n HolderIdentity: me\n/m);
});

test("kubectl describe shows an autoscaler and a ReplicaSet", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("describe-scaling");
  await kubectl("create -f -", { input: { ...aDeployment("set"), kind: "ReplicaSet" } });
  await kubectl("create deployment web --image=example/web");
  await kubectl("autoscale deployment web --min=2 --max=5 --cpu=50%");

  match(
    squeezed(await kubectl("describe replicaset set")),
    /^Replicas: 0 current \/ 1 desired\nPods Status: 0 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed\n/m,
  );
  match(
    squeezed(await kubectl("describe hpa web")),
    /^Reference: Deployment\/web\nMetrics: \( current \/ target \)\n resource cpu on pods \(as a percentage of request\): <unknown> \/ 50%\nMin replicas: 2\nMax replicas: 5\n/m,
  );
});

test("kubectl describe shows a Service", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("describe-service");
  await kubectl("create -f -", {
    input: aService("web", { clusterIP: "10.96.9.9", ports: [{ name: "http", port: 80, targetPort: 8080 }] }),
  });

  match(
    squeezed(await kubectl("describe service web")),
    /^Selector: app=web\nType: ClusterIP\nIP Family Policy: SingleStack\nIP Families: IPv4\nIP: 10\.96\.9\.9\nIPs: 10\.96\.9\.9\nPort: http 80\/TCP\nTargetPort: 8080\/TCP\n/m,
  );
});
