import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PersistentVolumeSpec } from "../../api/generated/core/v1.ts";
import { csiDrivers } from "../../api/storage.k8s.io/v1/csi-driver.ts";
import { attachmentName } from "../../api/storage.k8s.io/v1/volume-attachment/attachment-name.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { attachDetachController } from "./attach-detach-controller.ts";
import { attacher } from "./testing/attacher.ts";
import { aNode, aPod, bindVolume, CLAIM, DRIVER, inUse, key, NOW, stateOf, UNIQUE } from "./testing/volumes.ts";

async function started(facts: Partial<PersistentVolumeSpec> = {}, ...objects: readonly object[]): Promise<Given> {
  const cluster = await given(aNode("n1"), aNode("n2"), CLAIM, ...objects);
  await bindVolume(cluster.client, facts);
  await cluster.run(attachDetachController(), attacher());
  await cluster.settled();
  return cluster;
}

test("a volume is attached to the node of a Pod, reported there, and detached after the Pod", async () => {
  await using cluster = await started();
  await cluster.client.create(pods, aPod("p", "n1"));
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), ["n1 attached", `n1 has ${UNIQUE}`]);
  const [attachment] = await cluster.list(volumeAttachments);
  assert.equal(attachment?.metadata.name, attachmentName({ driver: DRIVER, handle: "h1" }, "n1"));
  assert.deepEqual(attachment.spec, { attacher: DRIVER, nodeName: "n1", source: { persistentVolumeName: "pv1" } });
  assert.deepEqual(cluster.events, ['Normal SuccessfulAttachVolume Pod/p AttachVolume.Attach succeeded for volume "pv1" ']);

  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), []);
});

test("a volume in use stays attached until the node has unmounted it", async () => {
  await using cluster = await started({}, aPod("p", "n1"));
  await inUse(cluster.client, "n1", UNIQUE);
  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.clock.advance(600_000);
  assert.deepEqual(await stateOf(cluster), ["n1 attached", `n1 has ${UNIQUE}`]);

  await inUse(cluster.client, "n1");
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), []);
});

test("a Pod on a second node waits for the first, and an event names the Pod that has the volume", async () => {
  await using cluster = await started({}, aPod("p", "n1"));
  await cluster.client.create(pods, aPod("q", "n2"));
  await cluster.settled();
  assert.equal(
    cluster.events.at(-1),
    'Warning FailedAttachVolume Pod/q Waiting for detach for volume "pv1" Volume is already used by pod(s) p',
  );

  await inUse(cluster.client, "n1", UNIQUE);
  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.settled();
  const exclusive = "Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node";
  assert.equal(cluster.events.at(-1), `Warning FailedAttachVolume Pod/q Waiting for detach for volume "pv1" ${exclusive}`);

  await inUse(cluster.client, "n1");
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["n2 attached", `n2 has ${UNIQUE}`]);
});

test("a volume for many nodes is attached to all of them", async () => {
  await using cluster = await started({ accessModes: ["ReadWriteMany"] }, aPod("p", "n1"), aPod("q", "n2"));

  const state = await stateOf(cluster);
  assert.deepEqual(state.toSorted(), ["n1 attached", `n1 has ${UNIQUE}`, "n2 attached", `n2 has ${UNIQUE}`]);
});

test("an unhealthy node loses a volume in use after six minutes, one out of service at once", async () => {
  await using cluster = await started({}, aPod("p", "n1"));
  await inUse(cluster.client, "n1", UNIQUE);
  const conditions = [{ type: "Ready", status: "Unknown" }];
  await cluster.client.patch(nodes, { name: "n1" }, { type: "merge", value: { status: { conditions } } }, { subresource: "status" });
  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.clock.advance(350_000);
  assert.deepEqual(await stateOf(cluster), ["n1 attached", `n1 has ${UNIQUE}`]);
  await cluster.clock.advance(20_000);
  assert.deepEqual(await stateOf(cluster), []);

  await cluster.client.create(pods, aPod("p", "n1"));
  await cluster.settled();
  assert.equal((await stateOf(cluster)).length, 2);
  const taints = [{ key: "node.kubernetes.io/out-of-service", value: "shutdown", effect: "NoExecute" }];
  await cluster.client.patch(nodes, { name: "n1" }, { type: "merge", value: { spec: { taints } } });
  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), []);
});

test("volumes of drivers that do not attach, of unmanaged nodes and of other plugins are left alone", async () => {
  const bare = { ...aNode("n3"), metadata: { name: "n3" } };
  const driver = { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: DRIVER }, spec: { attachRequired: false } };
  await using cluster = await started({}, driver, bare, aPod("p", "n1"), aPod("q", "n3"));
  assert.deepEqual(await stateOf(cluster), []);

  await cluster.client.delete(csiDrivers, { name: DRIVER });
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["n1 attached", `n1 has ${UNIQUE}`]);
});

test("attachments that other clients create are not deleted", async () => {
  const foreign = {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: "mine" },
    spec: { attacher: DRIVER, nodeName: "n1", source: { persistentVolumeName: "pv1" } },
  };
  await using cluster = await started({}, foreign);
  await cluster.clock.advance(600_000);

  assert.deepEqual(await stateOf(cluster), ["n1 attached"]);
});

test("a failure of the driver, and its silence, are reported to the Pod", async () => {
  await using cluster = await given(aNode("n1"), CLAIM, aPod("p", "n1"));
  await bindVolume(cluster.client);
  await cluster.run(attachDetachController());
  await cluster.clock.advance(130_000);
  const silence = `timed out waiting for external-attacher of ${DRIVER} CSI driver to attach volume h1`;
  assert.deepEqual(cluster.events, [`Warning FailedAttachVolume Pod/p AttachVolume.Attach failed for volume "pv1" : ${silence}`]);

  await cluster.run(attacher({ fails: "no such disk" }));
  await cluster.settled();
  assert.equal(cluster.events.at(-1), 'Warning FailedAttachVolume Pod/p AttachVolume.Attach failed for volume "pv1" : no such disk');
});

test("metrics count needed, attached and forcibly detached volumes", async () => {
  await using cluster = await given(aNode("n1"), CLAIM, aPod("p", "n1"));
  await bindVolume(cluster.client);
  const running = await cluster.run(attachDetachController(), attacher());
  await cluster.settled();

  const text = JSON.stringify(running.metrics());
  assert.match(text, /attachdetach_controller_total_volumes/);
  assert.match(text, /storage_count_attachable_volumes_in_use/);
});

test("metrics have the durations of attaching and detaching, failures included", async () => {
  await using cluster = await given(aNode("n1"), CLAIM, aPod("p", "n1"));
  await bindVolume(cluster.client);
  const running = await cluster.run(attachDetachController());
  await cluster.settled();
  const [attachment] = await cluster.list(volumeAttachments);
  assert.ok(attachment);
  const attachError = { message: "no such disk", time: "2026-01-01T00:00:00Z" };
  await cluster.client.updateStatus(volumeAttachments, { ...attachment, status: { attached: false, attachError } });
  await cluster.settled();
  const counts = () =>
    running
      .metrics()
      .flatMap((family) => (family.name === "storage_operation_duration_seconds" && family.type === "histogram" ? family.samples : []))
      .map(({ labels, count }) => `${labels["operation_name"]} ${labels["status"]} ${labels["volume_plugin"]} ${count}`);
  assert.deepEqual(counts(), [`volume_attach fail-unknown kubernetes.io/csi:${DRIVER} 1`]);

  await cluster.run(attacher());
  await cluster.settled();
  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.settled();

  assert.deepEqual(counts(), [
    `volume_attach fail-unknown kubernetes.io/csi:${DRIVER} 1`,
    `volume_attach success kubernetes.io/csi:${DRIVER} 1`,
    `volume_detach success kubernetes.io/csi:${DRIVER} 1`,
  ]);
});

test("a crash at any step of attaching, moving and detaching does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [aNode("n1"), aNode("n2"), CLAIM],
      controllers: () => [attachDetachController(), attacher()],
      restMs: 30_000,
      steps: [
        ({ client }) => bindVolume(client),
        async ({ client }) => void (await client.create(pods, aPod("p", "n1"))),
        async ({ client }) => {
          await client.delete(pods, key("p"), NOW);
          await client.create(pods, aPod("q", "n2"));
        },
      ],
      // With a stale list of Pods an attachment may be created once more. What counts is what the Nodes report in the end.
      ignored: [volumeAttachments],
    },
    { deathsMax: rounds({ quick: 8, full: 1_000 }), disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
