/** The volumes of a node on a real disk, with claims that a test binds by hand. Needs root, and a kernel that allows mounts. */
import { mkdir, realpath, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  ConfigMap,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  PodSpec,
  Secret,
} from "../../../../api/generated/core/v1.ts";
import { buildPod } from "../../../../api/testing/pod.ts";
import { createLogger } from "../../../../base/logger.ts";
import { makeTemporaryDirectory } from "../../../../host/files/private-files.ts";
import { attachLoopDevice, detachLoopDevice, resizeLoopDevice } from "../../../../host/kernel/loop-devices.ts";
import { mountsUnder } from "../../../../host/kernel/mount-table.ts";
import { unmountUnder } from "../../../../host/kernel/mounts.ts";
import { realClock } from "../../../../host/real-clock.ts";
import type { PodVolumes } from "../../../contracts/pod-volumes.ts";
import { startPodVolumes } from "../pod-volumes-on-disk.ts";

/** Enough for an ext4 with its journal. */
export const DEVICE_BYTES = 16 * 2 ** 20;

export interface VolumeCase extends AsyncDisposable {
  /** Of the kubelet. */
  readonly root: string;
  /** Of what the test's volumes hold. */
  readonly disk: string;
  /** "reason message" of Events. */
  readonly events: string[];
  /** Names of measured operations, with the plugin. */
  readonly operations: string[];
  readonly claims: Map<string, PersistentVolumeClaim>;
  readonly labels: { ofNode: Readonly<Record<string, string>> };
  volumes: PodVolumes;
  /** Makes a bound pair: claim "c-<name>" and PersistentVolume "<name>". */
  bind(name: string, spec: PersistentVolumeSpec, status?: PersistentVolumeClaim["status"]): void;
  /** Simulates a kill: a new instance on the same disk. */
  restart(): Promise<void>;
}

export async function startVolumeCase(): Promise<VolumeCase> {
  const directory = await makeTemporaryDirectory("k8ts-persistent-");
  const base = await realpath(directory.path);
  const [root, disk] = [join(base, "kubelet"), join(base, "disk")];
  await mkdir(disk);
  const claims = new Map<string, PersistentVolumeClaim>();
  const volumes = new Map<string, PersistentVolume>();
  const events: string[] = [];
  const operations: string[] = [];
  const labels: VolumeCase["labels"] = { ofNode: {} };
  const start = () =>
    startPodVolumes({
      rootDirectory: root,
      nodeName: "n1",
      references: {
        listen: () => ({ [Symbol.dispose]: () => {} }),
        configMap: async (namespace, name): Promise<ConfigMap> => ({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { namespace, name },
          data: { a: "1" },
        }),
        secret: async (namespace, name): Promise<Secret> => ({
          apiVersion: "v1",
          kind: "Secret",
          metadata: { namespace, name },
          data: { b: "Mg==" },
        }),
        persistentVolumeClaim: async (_namespace, name) => claims.get(name),
        persistentVolume: async (name) => volumes.get(name),
        csiDriver: async () => undefined,
        trustBundles: async () => [],
        volumeAttachment: async () => undefined,
        node: async (name): Promise<Node> => ({ apiVersion: "v1", kind: "Node", metadata: { name, labels: labels.ofNode } }),
      },
      tokens: { token: async () => "", forget: () => {}, listen: () => ({ [Symbol.dispose]: () => {} }) },
      claims: {
        async writeStatus(claim) {
          claims.set(claim.metadata.name, claim);
          return claim;
        },
        record: (_about, { reason, message }) => void events.push(`${reason} ${message}`),
      },
      metrics: {
        storageOperation: ({ operation, plugin, isFailed }) => void operations.push(`${operation} ${plugin}${isFailed ? " failed" : ""}`),
        countVolumes: () => {},
        volumesFound: () => {},
      },
      nodeAllocatable: () => ({ memory: "64Mi" }),
      clock: realClock,
      log: createLogger({ clock: realClock, level: "error", sink: () => {} }),
    });
  const running: VolumeCase = {
    ...{ root, disk, events, operations, claims, labels },
    volumes: await start(),
    bind(name, spec, status = {}) {
      const metadata = { name: `c-${name}`, namespace: "ns", uid: name };
      claims.set(metadata.name, {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata,
        spec: { volumeName: name },
        status: { phase: "Bound", ...status },
      });
      volumes.set(name, { apiVersion: "v1", kind: "PersistentVolume", metadata: { name }, spec: { claimRef: { uid: name }, ...spec } });
    },
    async restart() {
      await running.volumes[Symbol.asyncDispose]();
      running.volumes = await start();
    },
    async [Symbol.asyncDispose]() {
      await running.volumes[Symbol.asyncDispose]();
      await unmountUnder(base);
      await directory[Symbol.asyncDispose]();
    },
  };
  return running;
}

/** Uses the claim of each named volume. */
export function podOfClaims(
  uid: string,
  names: readonly string[],
  more: Partial<PodSpec> & { readonly isBlock?: true; readonly readOnly?: true } = {},
): Pod {
  const { isBlock, readOnly, ...spec } = more;
  const mounts = names.map((name) => ({ name, mountPath: `/${name}` }));
  const devices = names.map((name) => ({ name, devicePath: `/dev/${name}` }));
  return buildPod({
    metadata: { namespace: "ns", uid, name: uid },
    spec: {
      containers: [{ name: "c", image: "i", ...(isBlock === true ? { volumeDevices: devices } : { volumeMounts: mounts }) }],
      volumes: names.map((name) => ({
        name,
        persistentVolumeClaim: { claimName: `c-${name}`, ...(readOnly === undefined ? {} : { readOnly }) },
      })),
      ...spec,
    },
  });
}

export async function mountPaths(directory: string): Promise<readonly string[]> {
  return (await mountsUnder(directory)).map(({ path }) => path);
}

/** A loop device on a sparse file, until it is disposed. */
export async function aDevice(disk: string): Promise<AsyncDisposable & { readonly path: string; grow(bytes: number): Promise<void> }> {
  const file = join(disk, "image");
  await writeFile(file, "");
  await truncate(file, DEVICE_BYTES);
  const path = await attachLoopDevice(file);
  return {
    path,
    async grow(bytes) {
      await truncate(file, bytes);
      await resizeLoopDevice(path);
    },
    [Symbol.asyncDispose]: () => detachLoopDevice(path),
  };
}
