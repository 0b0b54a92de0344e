/** A node in memory for tests of volume plugins: a mounter, objects that tests change, and one Pod with one volume. */
import type { ConfigMap, Pod, PodSpec, Secret, Volume } from "../../../api/generated/core/v1.ts";
import { encodeText } from "../../../api/core/v1/secret/contents.ts";
import { createLogger } from "../../../base/logger.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { VolumeFiles } from "../framework/volume-file.ts";
import type { PodVolume, VolumeNode, VolumePlugin } from "../framework/volume-plugin.ts";
import { MemoryMounter } from "./memory-mounter.ts";

export type VolumeSourceFields = Omit<Volume, "name">;

const NEVER = new AbortController().signal;

export class VolumeWorld implements VolumeNode {
  readonly mounter = new MemoryMounter();
  readonly configMaps = new Map<string, Pick<ConfigMap, "data" | "binaryData">>();
  readonly secrets = new Map<string, Readonly<Record<string, string>>>();
  readonly warnings: string[] = [];
  readonly log = createLogger({ clock: virtualClock(), level: "warn", sink: ({ sentence }) => void this.warnings.push(sentence) });
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
  };

  readonly tokens: VolumeNode["tokens"] = {
    token: async (_pod, { audience = "-", expirationSeconds = 0 }) => `token ${audience} ${expirationSeconds}`,
  };

  nodeAllocatable() {
    return { cpu: "4", memory: "8Gi" };
  }

  volumeOf(plugin: VolumePlugin, source: VolumeSourceFields): PodVolume {
    const volume: Volume = { name: "v", ...source };
    const container = { name: "main", image: "i", volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: "ns", uid: "u", labels: this.labels },
      spec: { containers: [container], volumes: [volume], ...this.spec },
    };
    const directory = (kind: string) => `/data/pods/u/${kind}/${plugin.directory}/v`;
    return { pod, volume, podUid: "u", volumeName: "v", path: directory("volumes"), stateDirectory: directory("plugins") };
  }

  async mount(plugin: VolumePlugin, source: VolumeSourceFields) {
    const volume = this.volumeOf(plugin, source);
    return plugin.mount(volume, await plugin.resolve(volume, this, NEVER), this);
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
