/** A CSI driver on a node in memory: mounts in the memory mounter, one line per call, and calls that fail on demand. */
import type {
  CsiNodeCapability,
  CsiNodeDriver,
  CsiNodeExpandRequest,
  CsiPublishRequest,
  CsiStageRequest,
  CsiVolumeStats,
} from "../../../csi/contract.ts";
import type { MemoryMounter } from "./memory-mounter.ts";

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o600;

export class MemoryCsiDriver implements CsiNodeDriver {
  readonly name = "driver.example";
  readonly capabilities = new Set<CsiNodeCapability>(["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME"]);
  readonly published: CsiPublishRequest[] = [];
  readonly staged: CsiStageRequest[] = [];
  readonly expanded: CsiNodeExpandRequest[] = [];
  readonly #mounter: MemoryMounter;
  stats: CsiVolumeStats = { usage: [], condition: undefined };
  /** Thrown by the next calls. */
  failure: Error | undefined;

  constructor(mounter: MemoryMounter) {
    this.#mounter = mounter;
  }

  async getPluginInfo() {
    return { name: this.name, vendorVersion: "1" };
  }

  async getPluginCapabilities() {
    return new Set<never>();
  }

  async probe() {
    return true;
  }

  async nodeGetInfo() {
    return { nodeId: "node-id", maxVolumesPerNode: 0, accessibleTopology: undefined };
  }

  async nodeGetCapabilities() {
    return this.capabilities;
  }

  async nodeStageVolume(request: CsiStageRequest): Promise<void> {
    this.#mayFail();
    this.staged.push(request);
    if (await this.#mounter.isMountedAt(request.stagingTargetPath)) return;
    await this.#mounter.makeDirectories(`/driver/${request.volumeId}`, DIRECTORY_MODE);
    await this.#mounter.bindMount(`/driver/${request.volumeId}`, request.stagingTargetPath, []);
  }

  async nodeUnstageVolume({ stagingTargetPath }: { readonly stagingTargetPath: string }): Promise<void> {
    this.#mayFail();
    await this.#mounter.unmount(stagingTargetPath);
  }

  async nodePublishVolume(request: CsiPublishRequest): Promise<void> {
    this.#mayFail();
    this.published.push(request);
    const { targetPath, volumeId, capability, volumeContext } = request;
    if (capability.access === "block") await this.#mounter.touchFile(targetPath, FILE_MODE);
    else await this.#mounter.makeDirectories(targetPath, DIRECTORY_MODE);
    if (!(await this.#mounter.isMountedAt(targetPath))) {
      await this.#mounter.makeDirectories(`/driver/${volumeId}`, DIRECTORY_MODE);
      await this.#mounter.bindMount(`/driver/${volumeId}`, targetPath, []);
    }
    if (capability.access === "block") return;
    const data = new TextEncoder().encode(JSON.stringify(volumeContext));
    await this.#mounter.writeFiles(targetPath, new Map([["context", { data, mode: FILE_MODE }]]), { beforePublish: async () => {} });
  }

  async nodeUnpublishVolume({ targetPath }: { readonly targetPath: string }): Promise<void> {
    this.#mayFail();
    await this.#mounter.unmount(targetPath);
    await this.#mounter.removeEmpty(targetPath);
  }

  async nodeGetVolumeStats(): Promise<CsiVolumeStats> {
    return this.stats;
  }

  async nodeExpandVolume(request: CsiNodeExpandRequest): Promise<number> {
    this.#mayFail();
    this.expanded.push(request);
    return request.capacity.requiredBytes;
  }

  #mayFail(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}
