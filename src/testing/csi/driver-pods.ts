/**
 * The CSI driver for tests in Pods, one per node, with the hostPaths of upstream's manifests: /var/lib/kubelet, wherever the kubelet's directory
 * is. Volumes of a node are in a directory of its name, as if each node were a machine.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../api/machinery/object.ts";
import { findProgram } from "../../host/processes/find-program.ts";
import { busyboxImage } from "../fixtures/busybox-image.ts";
import { packageDirectory } from "../package-directory.ts";

export const TEST_DRIVER = "test.csi.k8ts.dev";

const IMAGE = "k8ts.test/csi-driver:1";

/** Everything that the program imports is below it. */
const PROJECT = packageDirectory(import.meta.dirname);
const PROGRAM = fileURLToPath(new URL("./driver-program.js", import.meta.url));

/** What the driver calls. busybox's shell would run its own mount. */
const PROGRAMS = ["sh", "mount", "umount", "losetup", "blkid", "mkfs.ext4", "e2fsck", "resize2fs"];
/** For claims with XFS. */
const XFS_PROGRAMS = ["mkfs.xfs", "xfs_growfs"];

/** A tar archive for `k8ts image load`: Node.js, and what the driver calls. */
export function driverImage(): Uint8Array {
  const optional = XFS_PROGRAMS.flatMap((program) => findProgram(program, undefined) ?? []);
  return busyboxImage(IMAGE, { programs: [process.execPath, ...PROGRAMS.map(pathOf), ...optional] });
}

/**
 * A DaemonSet, its CSIDriver, and a class per file system. `directory`: of the volumes, below a directory per node; its directory "faults"
 * controls the driver of every node.
 */
export function driverObjects(directory: string): readonly JsonObject[] {
  const labels = { app: "csi-driver" };
  const template = { metadata: { labels }, spec: podSpec(directory) };
  return [
    { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "csi-driver" }, spec: { selector: { matchLabels: labels }, template } },
    {
      ...{ apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: TEST_DRIVER } },
      spec: { attachRequired: true, fsGroupPolicy: "File" },
    },
    ...driverClasses(),
  ];
}

/** "fast" with ext4, "fast-xfs" with XFS, whose volumes have 300Mi at least and grow online without CAP_SYS_RESOURCE. */
export function driverClasses(): readonly JsonObject[] {
  return ["ext4", "xfs"].map((fileSystem) => ({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: fileSystem === "ext4" ? "fast" : "fast-xfs", annotations: { "k8ts.dev/builtin-sidecars": "true" } },
    parameters: { "csi.storage.k8s.io/fstype": fileSystem },
    ...{ provisioner: TEST_DRIVER, volumeBindingMode: "WaitForFirstConsumer", allowVolumeExpansion: true },
  }));
}

/** A claim of one of those classes. */
export function driverClaim(
  name: string,
  { volumeMode = "Filesystem", storageClassName = "fast" }: { volumeMode?: "Filesystem" | "Block"; storageClassName?: string } = {},
): JsonObject {
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name } },
    spec: { storageClassName, volumeMode, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "8Mi" } } },
  };
}

/** Names of the volumes that the driver has for a node. */
export async function volumesOn(directory: string, nodeName: string): Promise<readonly string[]> {
  return readdir(join(directory, nodeName, "volumes"));
}

function podSpec(directory: string): JsonObject {
  const command = [
    ...["/bin/node", PROGRAM, "--directory", "/data/$(NODE)", "--registry", "/registration", "--node", "$(NODE)"],
    ...["--socket", "/csi/csi.sock", "--endpoint", `/var/lib/kubelet/plugins/${TEST_DRIVER}/csi.sock`, "--faults", "/data/faults"],
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
  const found = findProgram(program, undefined);
  if (found === undefined) throw new Error(`Cannot find the program ${program} in the directories of programs`);
  return found;
}
