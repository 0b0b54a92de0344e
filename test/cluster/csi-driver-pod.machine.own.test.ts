/**
 * A CSI driver in a Pod, with the hostPaths of upstream's drivers: its mounts reach the Pods of the node, it is killed and replaced while they
 * run, k8ts is killed in between, and file system and block volumes are unmounted and deleted by it in the end.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { aList } from "../../src/testing/clients/manifests.ts";
import { busyboxImage } from "../../src/testing/fixtures/busybox-image.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster } from "../../src/testing/servers/real-cluster.ts";

const DRIVER = "test.csi.k8ts.dev";
const IMAGE = "k8ts.test/csi-driver:1";
const READY_WITHIN_MS = 200_000;

/** Everything that the program imports is below it. */
const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../../src/testing/csi/driver-program.js", import.meta.url));

/** As upstream's manifests have it: /var/lib/kubelet, wherever the kubelet's directory is. */
function driverPods(directory: string): JsonObject {
  const command = [
    ...["/bin/node", PROGRAM, "--directory", "/data", "--registry", "/registration", "--node", "$(NODE)"],
    ...["--socket", "/csi/csi.sock", "--endpoint", `/var/lib/kubelet/plugins/${DRIVER}/csi.sock`],
  ];
  const volume = (name: string, path: string, type: string) => ({ name, hostPath: { path, type } });
  const spec = {
    containers: [
      {
        ...{ name: "driver", image: IMAGE, command, securityContext: { privileged: true } },
        env: [{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
        volumeMounts: [
          { name: "socket", mountPath: "/csi" },
          { name: "registration", mountPath: "/registration" },
          { name: "pods", mountPath: "/var/lib/kubelet/pods", mountPropagation: "Bidirectional" },
          { name: "plugins", mountPath: "/var/lib/kubelet/plugins", mountPropagation: "Bidirectional" },
          { name: "dev", mountPath: "/dev" },
          { name: "data", mountPath: "/data" },
          { name: "program", mountPath: PROJECT, readOnly: true },
        ],
      },
    ],
    terminationGracePeriodSeconds: 1,
    volumes: [
      volume("socket", `/var/lib/kubelet/plugins/${DRIVER}`, "DirectoryOrCreate"),
      volume("registration", "/var/lib/kubelet/plugins_registry", "Directory"),
      volume("pods", "/var/lib/kubelet/pods", "Directory"),
      volume("plugins", "/var/lib/kubelet/plugins", "Directory"),
      volume("dev", "/dev", "Directory"),
      volume("data", directory, "DirectoryOrCreate"),
      volume("program", PROJECT, "Directory"),
    ],
  };
  const labels = { app: "csi-driver" };
  return {
    ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "csi-driver" } },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** Of a program of the machine, in a directory of programs. */
function pathOf(program: string): string {
  const found = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].map((place) => join(place, program)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`Cannot find the program ${program}`);
  return found;
}

function claim(name: string, volumeMode: string): JsonObject {
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name } },
    spec: { storageClassName: "fast", volumeMode, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "8Mi" } } },
  };
}

const OBJECTS = aList(
  {
    ...{ apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: DRIVER } },
    spec: { attachRequired: true, fsGroupPolicy: "File" },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "fast", annotations: { "k8ts.dev/builtin-sidecars": "true" } },
    ...{ provisioner: DRIVER, volumeBindingMode: "WaitForFirstConsumer", allowVolumeExpansion: true },
  },
  claim("data", "Filesystem"),
  claim("device", "Block"),
  aRealPod("db", SLEEP, {
    container: { volumeMounts: [{ name: "v", mountPath: "/data" }], volumeDevices: [{ name: "d", devicePath: "/dev/raw" }] },
    volumes: [
      { name: "v", persistentVolumeClaim: { claimName: "data" } },
      { name: "d", persistentVolumeClaim: { claimName: "device" } },
    ],
  }),
);

test(
  "a CSI driver in a Pod, named below /var/lib/kubelet, serves volumes through its restart and a kill of k8ts",
  { ...needs(...REAL_CLUSTER_NEEDS, "loop") },
  async () => {
    await using cluster = await startRealCluster();
    const { kubectl } = cluster;
    const directory = join(cluster.directory, "csi-driver");
    await mkdir(directory);
    await cluster.loadImage(busyboxImage(IMAGE, { programs: [process.execPath, ...["sh", "mount", "umount", "losetup"].map(pathOf)] }));
    const field = (what: string, path: string) => kubectl(`get ${what} -o jsonpath={${path}}`).catch(() => "");
    await kubectl("wait --for=create serviceaccount/default", { timeoutMs: READY_WITHIN_MS });
    await kubectl("create -f -", { input: JSON.stringify(driverPods(directory)) });
    await becomes(() => field("csinodes", ".items[*].spec.drivers[*].name"), DRIVER);
    await kubectl("create -f -", { input: OBJECTS });
    await kubectl("wait --for=condition=Ready pod/db --timeout=180s", { timeoutMs: READY_WITHIN_MS });
    await kubectl("exec db -- sh -c 'echo acknowledged > /data/row && echo block > /dev/raw && sync'");
    const content = () => kubectl("exec db -- sh -c 'cat /data/row; head -c 6 /dev/raw'").catch(() => "");

    await kubectl("delete pod --selector=app=csi-driver --timeout=180s", { timeoutMs: READY_WITHIN_MS });
    await cluster.kill();
    await cluster.up();

    await becomes(content, "acknowledged\nblock\n");
    await becomes(() => field("csinodes", ".items[*].spec.drivers[*].name"), DRIVER);
    await kubectl(`patch pvc data --patch '{"spec":{"resources":{"requests":{"storage":"16Mi"}}}}'`);
    await becomes(() => field("pvc data", ".status.capacity.storage"), "16Mi");
    match(await readdir(join(directory, "volumes")).then(String), /pvc-/);
    await kubectl("delete pod/db pvc/data pvc/device --timeout=180s", { timeoutMs: READY_WITHIN_MS });
    await becomes(() => field("pv,volumeattachments", ".items[*].metadata.name"), "");
    deepEqual(await readdir(join(directory, "volumes")), []);
    equal(await cluster.interrupt(), 0);
    deepEqual(await cluster.onMachine(), []);
  },
);
