/** The real kubectl deletes owners with each --cascade: dependents are deleted in order, or orphaned. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aConfigMap } from "../../src/testing/clients/manifests.ts";
import { startStandInKubelet } from "./stand-in-kubelet.ts";

const server = await startTestApiServer({ controllers: ["*"] });
const kubelet = await startStandInKubelet(server);
after(async () => {
  await kubelet[Symbol.asyncDispose]();
  await server.close();
});

/** Creates a namespace with a Deployment of two pods, and returns the names of its dependents. */
async function inRolledOut(namespace: string) {
  kubelet.allow({});
  const kubectl = await server.inNamespace(namespace);
  await kubectl("create deployment web --image=example/web:1 --replicas=2");
  await kubectl("rollout status deployment/web");
  return { kubectl, ...(await owned(kubectl)) };
}

async function owned(kubectl: ClientProgram): Promise<{ readonly replicaSets: readonly string[]; readonly pods: readonly string[] }> {
  return { replicaSets: names(await kubectl("get replicasets -o name")), pods: names(await kubectl("get pods -o name")) };
}

function names(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

test("--cascade=background deletes the owner at once and its dependents afterwards", needs("kubectl"), async () => {
  const { kubectl, replicaSets, pods } = await inRolledOut("background");
  kubelet.allow({ gone: () => false });

  equal(await kubectl("delete deployment web --cascade=background"), `deployment.apps "web" deleted from background namespace\n`);
  equal(await kubectl("get deployments -o name"), "");
  await kubectl(`wait ${replicaSets.join(" ")} --for=delete`);
  for (const pod of pods) await kubectl(`wait ${pod} --for=jsonpath={.metadata.deletionGracePeriodSeconds}=30`);
  kubelet.allow({});

  await kubectl(`wait ${pods.join(" ")} --for=delete`);
  deepEqual(await owned(kubectl), { replicaSets: [], pods: [] });
});

test("--cascade=foreground keeps every owner until its dependents are deleted", needs("kubectl"), async () => {
  const { kubectl, replicaSets, pods } = await inRolledOut("foreground");
  const [replicaSet = ""] = replicaSets;
  kubelet.allow({ gone: () => false });

  await using deletion = kubectl.start("delete deployment web --cascade=foreground");
  equal(await deletion.line(), `deployment.apps "web" deleted from foreground namespace`);
  for (const pod of pods) await kubectl(`wait ${pod} --for=jsonpath={.metadata.deletionGracePeriodSeconds}=30`);
  const held = "{.metadata.finalizers}{.metadata.deletionGracePeriodSeconds}";
  equal(await kubectl(`get deployment web -o jsonpath=${held}`), `["foregroundDeletion"]0`);
  equal(await kubectl(`get ${replicaSet} -o jsonpath=${held}`), `["foregroundDeletion"]0`);
  kubelet.allow({});

  deepEqual(await deletion.rest(), []);
  deepEqual(await owned(kubectl), { replicaSets: [], pods: [] });
});

test("--cascade=orphan deletes only the owner, and a new one of the same name adopts the dependents", needs("kubectl"), async () => {
  const { kubectl, replicaSets, pods } = await inRolledOut("orphan");
  const [replicaSet = ""] = replicaSets;

  equal(await kubectl("delete deployment web --cascade=orphan"), `deployment.apps "web" deleted from orphan namespace\n`);
  deepEqual(await owned(kubectl), { replicaSets, pods });
  equal(await kubectl(`get ${replicaSet} -o jsonpath={.metadata.ownerReferences}`), "");

  await kubectl("create deployment web --image=example/web:1 --replicas=2");
  await kubectl("rollout status deployment/web");
  deepEqual(await owned(kubectl), { replicaSets, pods });
  match(
    await kubectl(`get ${replicaSet} -o jsonpath={.metadata.ownerReferences[0]}`),
    /"controller":true.*"kind":"Deployment","name":"web"/,
  );

  await kubectl(`delete ${replicaSet} --cascade=orphan`);
  // Its successor adopts the pods: only then are they among the Deployment's dependents.
  await kubectl(`wait ${replicaSet} --for=create`);
  await kubectl(`wait ${replicaSet} --for=jsonpath={.status.replicas}=2`);
  await kubectl("delete deployment web --cascade=foreground");
  await kubectl(`wait ${pods.join(" ")} --for=delete`);
});

test("objects of any kind that own each other, even in a cycle, are deleted with the first of them", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("circle");
  const uidOf = (name: string) => kubectl(`get configmap ${name} -o jsonpath={.metadata.uid}`);
  const ownedBy = (name: string, uid: string, more: object = {}) =>
    JSON.stringify({ metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid, ...more }] } });
  for (const name of ["a", "b", "c", "two-owners"]) await kubectl("create -f -", { input: aConfigMap(name) });
  const [a, b] = [await uidOf("a"), await uidOf("b")];
  await kubectl(`patch configmap b --type=merge -p '${ownedBy("a", a)}'`);
  await kubectl(`patch configmap a --type=merge -p '${ownedBy("b", b)}'`);
  await kubectl(`patch configmap c --type=merge -p '${ownedBy("b", b, { blockOwnerDeletion: true })}'`);
  const keeper = { apiVersion: "v1", kind: "ConfigMap", name: "kube-root-ca.crt", uid: await uidOf("kube-root-ca.crt") };
  const both = { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: a }, keeper] } };
  await kubectl(`patch configmap two-owners --type=merge -p '${JSON.stringify(both)}'`);

  await kubectl("delete configmap a --cascade=foreground");
  await kubectl("wait configmap/b configmap/c --for=delete");

  await kubectl(`wait configmap/two-owners --for=jsonpath={.metadata.ownerReferences[0].name}=kube-root-ca.crt`);
  deepEqual(names(await kubectl("get configmaps -o name")), ["configmap/kube-root-ca.crt", "configmap/two-owners"]);
});

test("an object whose owner does not exist is deleted, and an owner in another namespace does not count", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("absent");
  await (
    await server.inNamespace("elsewhere")
  )("create configmap owner");
  const uid = await server.kubectl("get configmap owner -n elsewhere -o jsonpath={.metadata.uid}");
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];

  await kubectl("create -f -", { input: aConfigMap("owned", {}, { ownerReferences }) });
  await kubectl("wait configmap/owned --for=delete");

  await using events = kubectl.start(`get events --watch -o jsonpath={.reason}{"\\n"}`);
  equal(await events.line(), "OwnerRefInvalidNamespace");
});
