/** Situations of upstream's tests of its attach/detach controller that the other tests do not have. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { csiDrivers } from "../../api/storage.k8s.io/v1/csi-driver.ts";
import { attachmentName } from "../../api/storage.k8s.io/v1/volume-attachment/attachment-name.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import type { PersistentVolume } from "../../api/generated/core/v1.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { given, silentRecorder, type Given } from "../../testing/given.ts";
import { attachDetachController } from "./attach-detach-controller.ts";
import { AttachReports } from "./reports.ts";
import { attacher } from "./testing/attacher.ts";
import { aNode, aPod, bindVolume, CLAIM, DRIVER, inUse, key, NOW, stateOf, UNIQUE } from "./testing/volumes.ts";

const EBS = "ebs.csi.aws.com";
const ATTACHED = ["n1 attached", `n1 has ${UNIQUE}`];
const UNHEALTHY = { status: { conditions: [{ type: "Ready", status: "Unknown" }] } };

async function withVolume(...objects: readonly object[]): Promise<Given> {
  const cluster = await given(aNode("n1"), aNode("n2"), CLAIM, ...objects);
  await bindVolume(cluster.client);
  return cluster;
}

/** Moves the volume's Pod from n1 to n2. */
async function move({ client }: Given): Promise<void> {
  await client.delete(pods, key("p"), NOW);
  await client.create(pods, aPod("q", "n2"));
}

for (const attached of [true, false]) {
  test(`an attachment whose Pod was deleted while no controller ran is removed, ${attached ? "attached" : "not attached yet"}`, async () => {
    await using cluster = await withVolume();
    const created = await cluster.client.create(volumeAttachments, {
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttachment",
      metadata: { name: attachmentName({ driver: DRIVER, handle: "h1" }, "n1") },
      spec: { attacher: DRIVER, nodeName: "n1", source: { persistentVolumeName: "pv1" } },
    });
    await cluster.client.updateStatus(volumeAttachments, { ...created, status: { attached } });
    await cluster.run(attachDetachController());
    await cluster.settled();

    assert.deepEqual(await stateOf(cluster), []);
  });
}

test("a volume whose attachment failed is detached when its Pod is gone: whether it is attached is not known", async () => {
  await using cluster = await withVolume(aPod("p", "n1"));
  await cluster.run(attachDetachController(), attacher({ fails: "deadline exceeded" }));
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["n1 attaching"]);

  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), []);
});

test("a volume that is being attached to one node is detached there before it is attached to another", async () => {
  await using cluster = await withVolume(aPod("p", "n1"));
  await cluster.run(attachDetachController());
  await cluster.clock.advance(130_000);
  await move(cluster);
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["n2 attaching"]);

  await cluster.run(attacher());
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), ["n2 attached", `n2 has ${UNIQUE}`]);
});

test("while a driver cannot detach a volume, the next node waits", async () => {
  await using cluster = await withVolume(aPod("p", "n1"));
  const held = await cluster.run(attachDetachController(), attacher());
  await cluster.settled();
  // The attacher has its finalizer on the attachment, and stops.
  await held[Symbol.asyncDispose]();
  await cluster.run(attachDetachController());
  await move(cluster);
  await cluster.clock.advance(600_000);
  assert.deepEqual(await stateOf(cluster), ["n1 detaching"]);

  await cluster.run(attacher());
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), ["n2 attached", `n2 has ${UNIQUE}`]);
});

test("a Pod that has ended does not need its volume, and neither does one whose driver no longer attaches", async () => {
  await using cluster = await withVolume(aPod("p", "n1"));
  await cluster.run(attachDetachController(), attacher());
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ATTACHED);

  await cluster.client.create(csiDrivers, {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: DRIVER },
    spec: { attachRequired: false },
  });
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ATTACHED);
  await cluster.clock.advance(60_000);
  assert.deepEqual(await stateOf(cluster), []);

  await cluster.client.delete(csiDrivers, { name: DRIVER });
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ATTACHED);
  await cluster.client.patch(pods, key("p"), { type: "merge", value: { status: { phase: "Succeeded" } } }, { subresource: "status" });
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), []);
});

test("without forced detachment an unhealthy node keeps a volume in use until it is out of service", async () => {
  await using cluster = await withVolume(aPod("p", "n1"));
  await cluster.run(attachDetachController({ disableForceDetachOnTimeout: true }), attacher());
  await cluster.settled();
  await inUse(cluster.client, "n1", UNIQUE);
  await cluster.client.patch(nodes, { name: "n1" }, { type: "merge", value: UNHEALTHY }, { subresource: "status" });
  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.clock.advance(3_600_000);
  assert.deepEqual(await stateOf(cluster), ATTACHED);

  const taints = [{ key: "node.kubernetes.io/out-of-service", value: "shutdown", effect: "NoExecute" }];
  await cluster.client.patch(nodes, { name: "n1" }, { type: "merge", value: { spec: { taints } } });
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), []);
});

test("a PersistentVolume of an in-tree plugin is attached by the CSI driver that replaces it, whose absence an event reports", async () => {
  await using cluster = await given(aNode("n1"), CLAIM, aPod("p", "n1"));
  await bindVolume(cluster.client, { awsElasticBlockStore: { volumeID: "aws://zone/vol-1" } });
  await cluster.run(attachDetachController());
  await cluster.clock.advance(130_000);
  const [attachment] = await cluster.list(volumeAttachments);
  assert.deepEqual(attachment?.spec, { attacher: EBS, nodeName: "n1", source: { persistentVolumeName: "pv1" } });
  assert.equal(attachment.metadata.name, attachmentName({ driver: EBS, handle: "vol-1" }, "n1"));
  assert.deepEqual(cluster.events, [
    `Warning FailedAttachVolume Pod/p AttachVolume.Attach failed for volume "pv1" : timed out waiting for external-attacher of ${EBS} CSI driver to attach volume vol-1`,
  ]);

  await cluster.run(attacher());
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), ["n1 attached", `n1 has kubernetes.io/csi/${EBS}^vol-1`]);
  assert.match(cluster.events.at(-1) ?? "", /^Normal SuccessfulAttachVolume Pod\/p /);
});

test("a volume of an in-tree plugin in a Pod is attached with the source of its CSI driver, and detached after the last Pod", async () => {
  await using cluster = await given(aNode("n1"), aNode("n2"));
  await cluster.run(attachDetachController(), attacher());
  for (const [name, nodeName] of [
    ["p", "n1"],
    ["q", "n2"],
  ] as const) {
    const volumes = [{ name: "v", awsElasticBlockStore: { volumeID: "vol-1" } }];
    const pod = buildPod({ metadata: key(name), spec: { nodeName, containers: [{ name: "c", image: "i" }], volumes } });
    await cluster.client.create(pods, pod);
    await cluster.settled();
  }

  const [attachment] = await cluster.list(volumeAttachments);
  assert.deepEqual(attachment?.spec.source.inlineVolumeSpec?.csi, {
    driver: EBS,
    volumeHandle: "vol-1",
    volumeAttributes: { partition: "0" },
  });
  assert.deepEqual(await stateOf(cluster), ["n1 attached", `n1 has kubernetes.io/csi/${EBS}^vol-1`]);
  assert.deepEqual(cluster.events, [
    `Normal SuccessfulAttachVolume Pod/p AttachVolume.Attach succeeded for volume "${EBS}-vol-1" `,
    `Warning FailedAttachVolume Pod/q Waiting for detach for volume "${EBS}-vol-1" Volume is already used by pod(s) p`,
  ]);

  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["n2 attached", `n2 has kubernetes.io/csi/${EBS}^vol-1`]);
  await cluster.client.delete(pods, key("q"), NOW);
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), []);
});

const USED = "Volume is already used by";
const EXCLUSIVE = "Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node";

for (const [title, users, expected] of [
  ["no Pods", [], EXCLUSIVE],
  ["a Pod of the same namespace", ["default/pod2"], `${USED} pod(s) pod2`],
  ["a Pod of another namespace", ["ns2/pod2"], `${USED} 1 pod(s) in different namespaces`],
  ["Pods of both", ["ns2/pod2", "default/pod3"], `${USED} pod(s) pod3 and 1 pod(s) in different namespaces`],
] as const) {
  test(`a Pod that waits for a volume used by ${title} says so`, () => {
    const events: string[] = [];
    const recorder: EventRecorder = { ...silentRecorder, record: (_about, { message }) => void events.push(message ?? "") };
    const podOf = (name: string, namespace = "default") => ({ ...aPod(name, "n1"), metadata: { name, namespace } });
    const volume: PersistentVolume = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "volume-name" } };
    const others = users.map((user) => user.split("/")).map(([namespace, name = ""]) => podOf(name, namespace));

    new AttachReports().blocked(volume, "n1", [podOf("pod1")], others, recorder);

    assert.deepEqual(events, [`Waiting for detach for volume "volume-name" ${expected}`]);
  });
}
