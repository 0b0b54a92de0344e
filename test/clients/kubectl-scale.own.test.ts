/** The real kubectl scales objects with replicas, and the endpoints of Services follow their pods. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { needs } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aPod } from "../../src/testing/clients/manifests.ts";
import { startStandInKubelet } from "./stand-in-kubelet.ts";

const server = await startTestApiServer({ controllers: ["*"] });
const kubelet = await startStandInKubelet(server);
after(async () => {
  await kubelet[Symbol.asyncDispose]();
  await server.close();
});

const LABELS = { app: "web" };
const TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: [{ name: "web", image: "example/web:1" }] } };
const metadata = { name: "web" };

const SCALED = [
  {
    word: "deployment.apps",
    object: { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { selector: { matchLabels: LABELS }, template: TEMPLATE } },
  },
  {
    word: "replicaset.apps",
    object: { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: { selector: { matchLabels: LABELS }, template: TEMPLATE } },
  },
  { word: "replicationcontroller", object: { apiVersion: "v1", kind: "ReplicationController", metadata, spec: { template: TEMPLATE } } },
];

async function podNames(kubectl: ClientProgram): Promise<readonly string[]> {
  return (await kubectl("get pods -o name")).split("\n").filter((line) => line !== "");
}

for (const { word, object } of SCALED) {
  test(`kubectl scale scales a ${word} up and down, with --current-replicas as precondition`, needs("kubectl"), async () => {
    const kubectl = await server.inNamespace(object.kind.toLowerCase());
    await kubectl("create -f -", { input: object });
    await kubectl(`wait ${word}/web --for=jsonpath={.status.readyReplicas}=1`);

    equal(await kubectl(`scale ${word} web --replicas=4 --timeout=90s`), `${word}/web scaled\n`);
    await kubectl(`wait ${word}/web --for=jsonpath={.status.readyReplicas}=4`);
    equal((await podNames(kubectl)).length, 4);
    equal(await kubectl.fails(`scale ${word} web --current-replicas=3 --replicas=5`), "error: Expected replicas to be 3, was 4\n");
    equal(await kubectl(`scale ${word} web --current-replicas=4 --replicas=2`), `${word}/web scaled\n`);
    await kubectl(`wait ${word}/web --for=jsonpath={.status.replicas}=2`);
    const left = await podNames(kubectl);
    await kubectl(`scale ${word} web --replicas=0`);
    await kubectl(`wait ${left.join(" ")} --for=delete`);
    deepEqual(await podNames(kubectl), []);
  });
}

test("a deleted pod is replaced, and a matching orphan pod is adopted", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("adoption");
  await kubectl("create -f -", { input: aPod("web") });
  await kubectl("create -f -", { input: SCALED[1]?.object ?? {} });
  await kubectl("scale replicaset web --replicas=2");
  await kubectl("wait replicaset/web --for=jsonpath={.status.readyReplicas}=2");
  equal(await kubectl("get pod web -o jsonpath={.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}"), "ReplicaSet/web");
  equal((await podNames(kubectl)).length, 2);

  await kubectl("delete pod web");
  // The status may still count the deleted pod.
  await becomes(async () => (await podNames(kubectl)).filter((name) => name !== "pod/web").length, 2);
  await kubectl("wait replicaset/web --for=jsonpath={.status.readyReplicas}=2");

  const [freed = ""] = await podNames(kubectl);
  await kubectl(`label ${freed} app=other --overwrite`);
  await kubectl(`wait ${freed} --for=jsonpath={.metadata.labels.app}=other`);
  await becomes(() => kubectl(`get ${freed} -o jsonpath={.metadata.ownerReferences}`), "");
  await becomes(async () => (await podNames(kubectl)).length, 3);
  await kubectl("wait replicaset/web --for=jsonpath={.status.readyReplicas}=2");
});

test("the endpoints of an exposed Deployment follow its pods", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("expose");
  await kubectl("create deployment web --image=example/web:1 --replicas=2 --port=8080");
  await kubectl("rollout status deployment/web");
  const ips = async (): Promise<readonly string[]> =>
    (await kubectl("get pods -l app=web -o jsonpath={.items[*].status.podIP}"))
      .split(" ")
      .filter((ip) => ip !== "")
      .toSorted();

  equal(await kubectl("expose deployment web --port=80 --target-port=8080"), "service/web exposed\n");
  await kubectl("wait endpointslices -l kubernetes.io/service-name=web --for=jsonpath={.endpoints[1].conditions.ready}=true");
  await kubectl("wait endpoints/web --for=jsonpath={.subsets[0].addresses[1].targetRef.kind}=Pod");
  deepEqual(await sliceAddresses(kubectl), await ips());
  match(await kubectl("describe service web"), /^Endpoints: +10\.244\.\d+\.\d+:8080,10\.244\.\d+\.\d+:8080$/m);
  match(await kubectl("get endpointslices --no-headers"), /^web-\w{5} +IPv4 +8080 +[\d.]+,[\d.]+ +\w+\n$/);

  await using endpoints = kubectl.start(`get endpoints web --watch -o jsonpath={.subsets[*].addresses[*].ip}{"\\n"}`);
  await using slices = kubectl.start(`get endpointslices --watch -o jsonpath={.endpoints[*].addresses[0]}{"\\n"}`);
  await kubectl("scale deployment web --replicas=0");
  for (const shown of [endpoints, slices]) for (let line = await shown.line(); line !== "";) line = await shown.line();

  const [slice = ""] = (await kubectl("get endpointslices -o name")).trimEnd().split("\n");
  await kubectl("delete service web");
  await kubectl(`wait ${slice} endpoints/web --for=delete`);
});

async function sliceAddresses(kubectl: ClientProgram): Promise<readonly string[]> {
  const text = await kubectl("get endpointslices -l kubernetes.io/service-name=web -o jsonpath={.items[*].endpoints[*].addresses[0]}");
  return text
    .split(" ")
    .filter((ip) => ip !== "")
    .toSorted();
}
