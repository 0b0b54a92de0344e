/** A node in memory for tests of volume plugins: a mounter, objects that tests change, and one Pod with one volume. */
import type {
  ConfigMap,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  PodSpec,
  Secret,
  Volume,
} from "../../../api/generated/core/v1.ts";
import type { ClusterTrustBundle } from "../../../api/generated/certificates.k8s.io/v1beta1.ts";
import type { CSIDriver, VolumeAttachment } from "../../../api/generated/storage.k8s.io/v1.ts";
import { encodeText } from "../../../api/core/v1/secret/contents.ts";
import { createLogger } from "../../../base/logger.ts";
import type { CsiNodeDriver } from "../../../csi/contract.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { VolumeFiles } from "../framework/volume-file.ts";
import type { PodVolume, VolumeImages, VolumeNode, VolumePlugin } from "../framework/volume-plugin.ts";
import { MemoryInitiator } from "./memory-initiator.ts";
import { MemoryMounter } from "./memory-mounter.ts";

/** Of a volume; or the `spec` of a PersistentVolume, whose claim the Pod then uses. */
export type VolumeSourceFields = Omit<Volume, "name"> | { readonly persistent: PersistentVolumeSpec; readonly readOnly?: true };

const NEVER = new AbortController().signal;

export class VolumeWorld implements VolumeNode {
  readonly mounter = new MemoryMounter();
  readonly configMaps = new Map<string, Pick<ConfigMap, "data" | "binaryData">>();
  readonly secrets = new Map<string, Readonly<Record<string, string>>>();
  readonly warnings: string[] = [];
  readonly log = createLogger({ clock: virtualClock(), level: "warn", sink: ({ sentence }) => void this.warnings.push(sentence) });
  readonly nodeName = "n1";
  readonly pluginsDirectory = "/data/plugins";
  readonly csiDrivers = new Map<string, CSIDriver>();
  readonly volumeAttachments = new Map<string, VolumeAttachment>();
  readonly csiNodeDrivers = new Map<string, CsiNodeDriver>();
  readonly ownership: VolumeNode["ownership"] = { changing: (_volume, { run }) => run() };
  readonly csi: VolumeNode["csi"] = { driver: (name) => this.csiNodeDrivers.get(name) };
  node: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };
  trustBundles: readonly ClusterTrustBundle[] = [];
  labels: Readonly<Record<string, string>> = {};
  spec: Partial<PodSpec> = {};

  readonly references: VolumeNode["references"] = {
    configMap: async (namespace, name): Promise<ConfigMap | undefined> => {
      const contents = namespace === "ns" ? this.configMaps.get(name) : undefined;
      return contents && { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, ...contents };
    },
    secret: async (namespace, name): Promise<Secret | undefined> => {
      const texts = namespace === "ns" ? this.secrets.get(name) : undefined;
      const data = Object.entries(texts ?? {}).map(([key, text]) => [key, encodeText(text)]);
      return texts && { apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, data: Object.fromEntries(data) };
    },
    // The caller of a plugin reads claims; plugins get them.
    persistentVolumeClaim: async () => undefined,
    persistentVolume: async () => undefined,
    csiDriver: async (name) => this.csiDrivers.get(name),
    volumeAttachment: async (name) => this.volumeAttachments.get(name),
    node: async () => this.node,
    trustBundles: async () => this.trustBundles,
  };

  readonly tokens: VolumeNode["tokens"] = {
    token: async (_pod, { audience = "-", expirationSeconds = 0 }) => `token ${audience} ${expirationSeconds}`,
  };

  readonly podCertificates: VolumeNode["podCertificates"] = {
    credentials: async ({ volumeName, index }) => ({ key: `key ${volumeName} ${index}\n`, certificateChain: "chain\n" }),
  };

  readonly initiator = new MemoryInitiator(this.mounter);
  readonly iscsi: VolumeNode["iscsi"] = this.initiator;

  readonly presentImages = new Set<string>();
  readonly images: VolumeImages = {
    ensure: async (_pod, { reference = "" }) => {
      if (!this.presentImages.has(reference)) throw new Error(`failed to pull ${reference}`);
      return `id of ${reference}`;
    },
    mount: async (imageId, { path }) => this.mounter.mountDevice({ device: imageId, path, fileSystem: "overlay", options: ["ro"] }),
    unmount: async ({ path }) => this.mounter.unmount(path),
  };

  hostPath(path: string): string {
    return path.replace(/^\/var\/lib\/kubelet(?=\/|$)/, "/data");
  }

  nodeAllocatable() {
    return { cpu: "4", memory: "8Gi" };
  }

  volumeOf(plugin: VolumePlugin, source: VolumeSourceFields): PodVolume {
    const { volume, persistent } = volumeAndClaim(source);
    const container = { name: "main", image: "i", volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: "ns", uid: "u", labels: this.labels },
      spec: { containers: [container], volumes: [volume], ...this.spec },
    };
    const isBlockDevice = persistent?.volume.spec?.volumeMode === "Block";
    const volumeName = persistent === undefined ? "v" : "pv";
    const directory = (kind: string) => `/data/pods/u/${kind}/${plugin.directory}/${volumeName}`;
    return {
      ...{ pod, volume, podUid: "u", volumeName, isBlockDevice },
      ...(persistent === undefined ? {} : { persistent }),
      path: directory(isBlockDevice ? "volumeDevices" : "volumes"),
      stateDirectory: directory("plugins"),
    };
  }

  /** As machine/volumes does: staged before it is mounted. */
  async mount(plugin: VolumePlugin, source: VolumeSourceFields) {
    const volume = this.volumeOf(plugin, source);
    const resolved = await plugin.resolve(volume, this, NEVER);
    const directory = plugin.staging?.directory(volume, resolved, this);
    if (directory !== undefined) await plugin.staging?.stage({ volume, resolved, directory }, this);
    return plugin.mount(volume, resolved, this);
  }

  async unmount(plugin: VolumePlugin, source: VolumeSourceFields): Promise<void> {
    const { pod: _pod, volume: _volume, persistent: _persistent, ...location } = this.volumeOf(plugin, source);
    await plugin.unmount(location, this);
    const volume = this.volumeOf(plugin, source);
    // Only for its path: `unstage` gets nothing else.
    const directory = plugin.staging?.directory(volume, await plugin.resolve(volume, this, NEVER), this);
    if (directory !== undefined) await plugin.staging?.unstage(directory, this);
  }

  async refresh(plugin: VolumePlugin, source: VolumeSourceFields): Promise<void> {
    const volume = this.volumeOf(plugin, source);
    await plugin.refresh?.(volume, await plugin.resolve(volume, this, NEVER), this);
  }

  /** What `resolve` of a plugin for files returns, each as "path mode owner text". */
  async filesOf(plugin: VolumePlugin<VolumeFiles>, source: VolumeSourceFields): Promise<readonly string[]> {
    const files = await plugin.resolve(this.volumeOf(plugin, source), this, NEVER);
    const text = (data: Uint8Array) => (data[0] === 0 ? `[${data.join()}]` : new TextDecoder().decode(data));
    return [...files].map(([path, { data, mode, ownerUid = "-" }]) => `${path} ${mode.toString(8)} ${ownerUid} ${text(data)}`).toSorted();
  }
}

function volumeAndClaim(source: VolumeSourceFields): Pick<PodVolume, "volume" | "persistent"> {
  if (!("persistent" in source)) return { volume: { name: "v", ...source } };
  const claim: PersistentVolumeClaim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "c", namespace: "ns", uid: "claim" },
    spec: { volumeName: "pv" },
    status: { phase: "Bound" },
  };
  const volume: PersistentVolume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "pv", uid: "pv" },
    spec: { claimRef: { uid: "claim", namespace: "ns", name: "c" }, ...source.persistent },
  };
  const readOnly = source.readOnly === undefined ? {} : { readOnly: true };
  return { volume: { name: "v", persistentVolumeClaim: { claimName: "c", ...readOnly } }, persistent: { claim, volume } };
}
