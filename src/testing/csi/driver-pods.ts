/**
 * The CSI driver for tests in Pods, one per node, with the hostPaths of upstream's manifests: /var/lib/kubelet, wherever the kubelet's directory
 * is. Volumes of a node are in a directory of its name, as if each node were a machine.
 */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../api/machinery/object.ts";
import { busyboxImage } from "../fixtures/busybox-image.ts";
import { packageDirectory } from "../package-directory.ts";

export const TEST_DRIVER = "test.csi.k8ts.dev";

const IMAGE = "k8ts.test/csi-driver:1";

/** Everything that the program imports is below it. */
const PROJECT = packageDirectory(import.meta.dirname);
const PROGRAM = fileURLToPath(new URL("./driver-program.js", import.meta.url));

/** A tar archive for `k8ts image load`: Node.js, and what the driver calls. busybox's shell would run its own mount. */
export function driverImage(): Uint8Array {
  return busyboxImage(IMAGE, { programs: [process.execPath, ...["sh", "mount", "umount", "losetup"].map(pathOf)] });
}

/** A DaemonSet and its CSIDriver. `directory`: of the volumes, below a directory per node. */
export function driverObjects(directory: string): readonly JsonObject[] {
  const labels = { app: "csi-driver" };
  const template = { metadata: { labels }, spec: podSpec(directory) };
  return [
    { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "csi-driver" }, spec: { selector: { matchLabels: labels }, template } },
    {
      ...{ apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: TEST_DRIVER } },
      spec: { attachRequired: true, fsGroupPolicy: "File" },
    },
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "fast", annotations: { "k8ts.dev/builtin-sidecars": "true" } },
      ...{ provisioner: TEST_DRIVER, volumeBindingMode: "WaitForFirstConsumer", allowVolumeExpansion: true },
    },
  ];
}

/** A claim of that class. */
export function driverClaim(name: string, volumeMode: "Filesystem" | "Block" = "Filesystem"): JsonObject {
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name } },
    spec: { storageClassName: "fast", volumeMode, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "8Mi" } } },
  };
}

/** Names of the volumes that the driver has for a node. */
export async function volumesOn(directory: string, nodeName: string): Promise<readonly string[]> {
  return readdir(join(directory, nodeName, "volumes"));
}

function podSpec(directory: string): JsonObject {
  const command = [
    ...["/bin/node", PROGRAM, "--directory", "/data/$(NODE)", "--registry", "/registration", "--node", "$(NODE)"],
    ...["--socket", "/csi/csi.sock", "--endpoint", `/var/lib/kubelet/plugins/${TEST_DRIVER}/csi.sock`],
  ];
  const volume = (name: string, path: string, type: string) => ({ name, hostPath: { path, type } });
  return {
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
      volume("socket", `/var/lib/kubelet/plugins/${TEST_DRIVER}`, "DirectoryOrCreate"),
      volume("registration", "/var/lib/kubelet/plugins_registry", "Directory"),
      volume("pods", "/var/lib/kubelet/pods", "Directory"),
      volume("plugins", "/var/lib/kubelet/plugins", "Directory"),
      volume("dev", "/dev", "Directory"),
      volume("data", directory, "DirectoryOrCreate"),
      volume("program", PROJECT, "Directory"),
    ],
  };
}

/** Of a program of the machine. */
function pathOf(program: string): string {
  const found = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].map((place) => join(place, program)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`Cannot find the program ${program} in the directories of programs`);
  return found;
}
