/** The real kubectl with an embedded cluster: StatefulSets and DaemonSets are rolled out, shown and rolled back on simulated nodes. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, test } from "node:test";
import type { PodList } from "../../src/api/generated/core/v1.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { startKubectlCluster } from "../../src/testing/clients/kubectl-cluster.ts";
import { needs } from "../../src/testing/needs.ts";

const { inNamespace, close } = await startKubectlCluster({ nodes: 3 });
after(() => close());

const labels = { app: "web" };
const aSet = (kind: "StatefulSet" | "DaemonSet", spec: JsonObject): JsonObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "example/web:1" }] } },
    ...spec,
  },
});

/** "web-0 example/web:1", or "node-0 example/web:1" of a DaemonSet; without terminating Pods. */
async function images(kubectl: ClientProgram, by: "pod" | "node"): Promise<readonly string[]> {
  const { items } = JSON.parse(await kubectl("get pods -o json")) as PodList;
  const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return staying.map(({ metadata, spec }) => `${by === "pod" ? metadata.name : spec?.nodeName} ${spec?.containers[0]?.image}`).toSorted();
}

const everywhere = (names: readonly string[], version: number) => names.map((name) => `${name} example/web:${version}`);
const PODS = ["web-0", "web-1", "web-2"];
const NODES = ["node-0", "node-1", "node-2"];

test("a StatefulSet is rolled out with a partition, completed and rolled back", needs("kubectl"), async () => {
  const kubectl = await inNamespace("stateful");
  await kubectl("create -f -", { input: aSet("StatefulSet", { replicas: 3, serviceName: "web" }) });
  ok((await kubectl("rollout status statefulset/web")).endsWith("partitioned roll out complete: 3 new pods have been updated...\n"));
  match(await kubectl("get statefulset web --no-headers"), /^web +3\/3 +\w+\n$/);

  await kubectl(`patch statefulset web -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}}}}'`);
  await kubectl("set image statefulset/web web=example/web:2");
  ok((await kubectl("rollout status statefulset/web")).endsWith("partitioned roll out complete: 1 new pods have been updated...\n"));
  deepEqual(await images(kubectl, "pod"), ["web-0 example/web:1", "web-1 example/web:1", "web-2 example/web:2"]);

  await kubectl(`patch statefulset web -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}'`);
  await kubectl("rollout status statefulset/web");
  deepEqual(await images(kubectl, "pod"), everywhere(PODS, 2));

  match(await kubectl("rollout history statefulset/web"), /^statefulset\.apps\/web \nREVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n/);
  match(await kubectl("rollout history statefulset/web --revision=1"), /Image:\s+example\/web:1\n/);
  equal(await kubectl("rollout undo statefulset/web"), "statefulset.apps/web rolled back\n");
  await kubectl("rollout status statefulset/web");
  deepEqual(await images(kubectl, "pod"), everywhere(PODS, 1));
  match(await kubectl("rollout history statefulset/web"), /^statefulset\.apps\/web \nREVISION +CHANGE-CAUSE\n2 +<none>\n3 +<none>\n/);
});

/** What upstream 1.36 stores for this template. */
const REVISION = {
  name: "web-664cbd64dd",
  data: String.raw`{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"note":"ä \u003cb\u003e"},"labels":{"app":"web"}},"spec":{"containers":[{"command":["sh","-c","a \u0026\u0026 b \u003e c"],"env":[{"name":"Z","value":"1"}],"image":"nginx:1.29","imagePullPolicy":"IfNotPresent","name":"app","ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}}}`,
};

test("the revision of a StatefulSet has upstream's name, and is served with upstream's bytes", needs("kubectl"), async () => {
  const kubectl = await inNamespace("bytes");
  const container = {
    name: "app",
    image: "nginx:1.29",
    command: ["sh", "-c", "a && b > c"],
    ports: [{ containerPort: 80 }],
    resources: { requests: { cpu: "100m", memory: "64Mi" } },
    env: [{ name: "Z", value: "1" }],
  };
  const template = { metadata: { labels, annotations: { note: "ä <b>" } }, spec: { containers: [container] } };
  await kubectl("create -f -", { input: aSet("StatefulSet", { replicas: 0, serviceName: "web", template }) });

  await kubectl(`wait statefulset/web --for=jsonpath={.status.updateRevision}=${REVISION.name}`);
  const raw = await kubectl(`get --raw /apis/apps/v1/namespaces/bytes/controllerrevisions/${REVISION.name}`);
  ok(raw.includes(`"data":${REVISION.data},`), raw);
});

test("a StatefulSet is scaled by kubectl, and deleted with its Pods", needs("kubectl"), async () => {
  const kubectl = await inNamespace("scaled");
  await kubectl("create -f -", { input: aSet("StatefulSet", { replicas: 1, serviceName: "web", podManagementPolicy: "Parallel" }) });

  await kubectl("scale statefulset/web --replicas=3");
  await kubectl("wait statefulset/web --for=jsonpath={.status.readyReplicas}=3");
  await kubectl("scale statefulset/web --replicas=1");
  await kubectl("wait pod/web-1 pod/web-2 --for=delete");
  match(
    await kubectl("describe statefulset web"),
    /SuccessfulDelete +.*statefulset-controller +delete Pod web-2 in StatefulSet web successful/i,
  );
  await kubectl("delete statefulset web");
  await kubectl("wait pod/web-0 --for=delete");
});

test("a DaemonSet is rolled out to all nodes, changed and rolled back", needs("kubectl"), async () => {
  const kubectl = await inNamespace("daemons");
  await kubectl("create -f -", { input: aSet("DaemonSet", {}) });
  ok((await kubectl("rollout status daemonset/web")).endsWith(`daemon set "web" successfully rolled out\n`));
  match(await kubectl("get daemonset web --no-headers"), /^web +3 +3 +3 +3 +3 +<none> +\w+\n$/);
  deepEqual(await images(kubectl, "node"), everywhere(NODES, 1));

  await kubectl("set image daemonset/web web=example/web:2");
  await kubectl("rollout status daemonset/web");
  deepEqual(await images(kubectl, "node"), everywhere(NODES, 2));

  equal(await kubectl("rollout undo daemonset/web"), "daemonset.apps/web rolled back\n");
  await kubectl("rollout status daemonset/web");
  deepEqual(await images(kubectl, "node"), everywhere(NODES, 1));
  match(await kubectl("rollout history daemonset/web"), /^daemonset\.apps\/web \nREVISION +CHANGE-CAUSE\n2 +<none>\n3 +<none>\n/);
});

test("a DaemonSet follows the labels of nodes, and kubectl drain leaves its Pods", needs("kubectl"), async () => {
  const kubectl = await inNamespace("labelled");
  const template = { metadata: { labels }, spec: { nodeSelector: { disk: "ssd" }, containers: [{ name: "web", image: "example/web:1" }] } };
  await kubectl("create -f -", { input: aSet("DaemonSet", { template }) });
  await kubectl("label node node-0 node-1 disk=ssd");
  await kubectl("wait daemonset/web --for=jsonpath={.status.numberReady}=2");
  deepEqual(await images(kubectl, "node"), everywhere(["node-0", "node-1"], 1));

  await kubectl("label node node-0 disk-");
  await kubectl("wait daemonset/web --for=jsonpath={.status.desiredNumberScheduled}=1");
  await kubectl("drain node-1 --ignore-daemonsets --force");
  deepEqual(await images(kubectl, "node"), everywhere(["node-1"], 1));
  await kubectl("uncordon node-1");
});
