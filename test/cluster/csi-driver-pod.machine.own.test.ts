/**
 * A CSI driver in a Pod, with the hostPaths of upstream's drivers: its mounts reach the Pods of the node, it is killed and replaced while they
 * run, k8ts is killed in between, and file system and block volumes are unmounted and deleted by it in the end. On two nodes, the built-in
 * sidecars call each node's instance for the volumes of that node.
 */
import { deepEqual, equal } from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { becomes } from "../../src/testing/becomes.ts";
import { aList } from "../../src/testing/clients/manifests.ts";
import { driverClaim, driverImage, driverObjects, TEST_DRIVER, volumesOn } from "../../src/testing/csi/driver-pods.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster } from "../../src/testing/servers/real-cluster.ts";

const READY_WITHIN_MS = 200_000;
const WAIT = { timeoutMs: READY_WITHIN_MS };

/** A cluster with the driver registered on all its nodes. */
async function startScene(flags: readonly string[] = []) {
  const cluster = await startRealCluster({ flags });
  const { kubectl } = cluster;
  const directory = join(cluster.directory, "csi-driver");
  await mkdir(directory);
  await cluster.loadImage(driverImage());
  const field = (what: string, path: string) => kubectl(`get ${what} -o jsonpath={${path}}`).catch(() => "");
  await kubectl("wait --for=create serviceaccount/default", WAIT);
  await kubectl("create -f -", { input: aList(...driverObjects(directory)) });
  const nodes = (await field("nodes", ".items[*].metadata.name")).split(" ");
  const registered = () => becomes(() => field("csinodes", ".items[*].spec.drivers[*].name"), nodes.map(() => TEST_DRIVER).join(" "));
  await registered();
  return { cluster, directory, nodes, field, registered };
}

test(
  "a CSI driver in a Pod, named below /var/lib/kubelet, serves volumes through its restart and a kill of k8ts",
  { ...needs(...REAL_CLUSTER_NEEDS, "loop", "xfs") },
  async () => {
    const { cluster: started, directory, nodes, field, registered } = await startScene();
    await using cluster = started;
    const { kubectl } = cluster;
    const db = aRealPod("db", SLEEP, {
      container: { volumeMounts: [{ name: "v", mountPath: "/data" }], volumeDevices: [{ name: "d", devicePath: "/dev/raw" }] },
      volumes: [
        { name: "v", persistentVolumeClaim: { claimName: "data" } },
        { name: "d", persistentVolumeClaim: { claimName: "device" } },
      ],
    });
    await kubectl("create -f -", {
      input: aList(driverClaim("data", { storageClassName: "fast-xfs" }), driverClaim("device", { volumeMode: "Block" }), db),
    });
    await kubectl("wait --for=condition=Ready pod/db --timeout=180s", WAIT);
    await kubectl("exec db -- sh -c 'echo acknowledged > /data/row && echo block > /dev/raw && sync'");
    const content = () => kubectl("exec db -- sh -c 'cat /data/row; head -c 6 /dev/raw'").catch(() => "");

    await kubectl("delete pod --selector=app=csi-driver --timeout=180s", WAIT);
    await cluster.kill();
    await cluster.up();

    await becomes(content, "acknowledged\nblock\n");
    await registered();
    await kubectl(`patch pvc data --patch '{"spec":{"resources":{"requests":{"storage":"400Mi"}}}}'`);
    await becomes(() => field("pvc data", ".status.capacity.storage"), "400Mi");
    equal((await volumesOn(directory, nodes[0] ?? "")).length, 2);
    await kubectl("delete pod/db pvc/data pvc/device --timeout=180s", WAIT);
    await becomes(() => field("pv,volumeattachments", ".items[*].metadata.name"), "");
    deepEqual(await volumesOn(directory, nodes[0] ?? ""), []);
    equal(await cluster.interrupt(), 0);
    deepEqual(await cluster.onMachine(), []);
  },
);

test(
  "built-in sidecars create, attach, grow and delete volumes of a CSI driver on each of two nodes",
  { ...needs(...REAL_CLUSTER_NEEDS, "loop", "xfs") },
  async () => {
    const { cluster: started, directory, nodes, field } = await startScene(["--nodes", "2"]);
    await using cluster = started;
    const { kubectl } = cluster;
    const pods = nodes.map((name, index) =>
      aRealPod(`db-${index}`, SLEEP, {
        container: { volumeMounts: [{ name: "v", mountPath: "/data" }] },
        nodeSelector: { "kubernetes.io/hostname": name },
        volumes: [{ name: "v", persistentVolumeClaim: { claimName: `data-${index}` } }],
      }),
    );
    const claims = nodes.map((_, index) => driverClaim(`data-${index}`, { storageClassName: "fast-xfs" }));
    await kubectl("create -f -", { input: aList(...claims, ...pods) });
    await kubectl("wait --for=condition=Ready pod/db-0 pod/db-1 --timeout=180s", WAIT);
    for (const [index, name] of nodes.entries()) {
      await kubectl(`exec db-${index} -- sh -c 'echo ${name} > /data/row'`);
      deepEqual(await volumesOn(directory, name), [await field(`pvc data-${index}`, ".spec.volumeName")]);
      await kubectl(`patch pvc data-${index} --patch '{"spec":{"resources":{"requests":{"storage":"400Mi"}}}}'`);
      await becomes(() => field(`pvc data-${index}`, ".status.capacity.storage"), "400Mi");
    }

    await kubectl("delete pod/db-0 pod/db-1 pvc/data-0 pvc/data-1 --timeout=180s", WAIT);

    await becomes(() => field("pv,volumeattachments", ".items[*].metadata.name"), "");
    deepEqual(await Promise.all(nodes.map((name) => volumesOn(directory, name))), [[], []]);
  },
);
