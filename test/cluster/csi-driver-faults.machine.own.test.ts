/**
 * Every call of a CSI driver in a Pod fails, loses its answer, and hangs once in the life of a claim and its Pod. While a call of the kubelet
 * hangs, k8ts is killed; while one of the sidecars hangs, the driver is. What is written stays, the claim grows, and in the end nothing is left.
 */
import { deepEqual, equal } from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { becomes } from "../../src/testing/becomes.ts";
import { aList } from "../../src/testing/clients/manifests.ts";
import { CSI_FAULTS, RemoteDriverFaults } from "../../src/testing/csi/driver-faults.ts";
import { driverClaim, driverImage, driverObjects, TEST_DRIVER, volumesOn } from "../../src/testing/csi/driver-pods.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster } from "../../src/testing/servers/real-cluster.ts";

const READY_WITHIN_MS = 200_000;
const WAIT = { timeoutMs: READY_WITHIN_MS };

/** Calls of each step, in their order. */
const STEPS = {
  create: ["CreateVolume", "ControllerPublishVolume", "NodeStageVolume", "NodePublishVolume"],
  grow: ["ControllerExpandVolume", "NodeExpandVolume"],
  deletePod: ["NodeUnpublishVolume", "NodeUnstageVolume", "ControllerUnpublishVolume"],
  deleteClaim: ["DeleteVolume"],
} as const;
const METHODS = Object.values(STEPS).flat();

test(
  "a claim of a CSI driver in a Pod ends in the same state whatever happens to each call",
  { ...needs(...REAL_CLUSTER_NEEDS, "loop", "xfs") },
  async () => {
    await using cluster = await startRealCluster();
    const { kubectl } = cluster;
    const directory = join(cluster.directory, "csi-driver");
    await mkdir(directory);
    const faults = await RemoteDriverFaults.open(join(directory, "faults"));
    await cluster.loadImage(driverImage());
    const field = (what: string, path: string) => kubectl(`get ${what} -o jsonpath={${path}}`).catch(() => "");
    const registered = () => becomes(() => field("csinodes", ".items[*].spec.drivers[*].name"), TEST_DRIVER);
    await kubectl("wait --for=create serviceaccount/default", WAIT);
    await kubectl("create -f -", { input: aList(...driverObjects(directory)) });
    await registered();
    const node = await field("nodes", ".items[*].metadata.name");
    const killed = async (method: string): Promise<void> => {
      await becomes(() => faults.isHanging(method), true);
      if (method.startsWith("Node")) {
        await cluster.kill();
        await cluster.up();
      } else await kubectl("delete pod --selector=app=csi-driver --force --grace-period=0 --timeout=180s", WAIT);
      await faults.forget(method);
    };

    for (const fault of CSI_FAULTS) {
      const before = await faults.counts();
      for (const method of METHODS) await faults.set(method, fault);
      const ends = async (step: keyof typeof STEPS): Promise<void> => {
        if (fault === "hangs") for (const method of STEPS[step]) await killed(method);
      };

      const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }];
      const db = aRealPod("db", SLEEP, { container: { volumeMounts: [{ name: "v", mountPath: "/data" }] }, volumes });
      await kubectl("create -f -", { input: aList(driverClaim("data", { storageClassName: "fast-xfs" }), db) });
      await ends("create");
      await kubectl("wait --for=condition=Ready pod/db --timeout=180s", WAIT);
      await kubectl("exec db -- sh -c 'echo acknowledged > /data/row && sync'");
      await kubectl(`patch pvc data --patch '{"spec":{"resources":{"requests":{"storage":"400Mi"}}}}'`);
      await ends("grow");
      await becomes(() => field("pvc data", ".status.capacity.storage"), "400Mi");
      equal(await kubectl("exec db -- cat /data/row"), "acknowledged\n");
      await kubectl("delete pod/db --wait=false");
      await ends("deletePod");
      await kubectl("wait --for=delete pod/db --timeout=180s", WAIT);
      await kubectl("delete pvc/data --wait=false");
      await ends("deleteClaim");
      await becomes(() => field("pvc,pv,volumeattachments", ".items[*].metadata.name"), "");

      deepEqual(await volumesOn(directory, node), [], fault);
      const after = await faults.counts();
      const once = METHODS.filter((method) => (after[method] ?? 0) - (before[method] ?? 0) < 2);
      deepEqual(once, [], `every call that ${fault} is repeated`);
    }
    equal(await cluster.interrupt(), 0);
    deepEqual(await cluster.onMachine(), []);
  },
);
