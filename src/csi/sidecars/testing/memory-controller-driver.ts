/** The controller service of a CSI driver in memory: one line per volume, idempotent as the specification requires, and failures on demand. */
import type {
  CsiControllerCapability,
  CsiControllerDriver,
  CsiCreateVolumeRequest,
  CsiMap,
  CsiPluginCapability,
  CsiVolume,
} from "../../contract.ts";
import type { ControllerDrivers } from "../sidecar.ts";

export class MemoryControllerDriver implements CsiControllerDriver, ControllerDrivers {
  readonly pluginCapabilities = new Set<CsiPluginCapability>(["CONTROLLER_SERVICE"]);
  readonly capabilities = new Set<CsiControllerCapability>(["CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "EXPAND_VOLUME"]);
  readonly created: CsiCreateVolumeRequest[] = [];
  /** Nodes that it was looked up for. */
  readonly calledOn: string[] = [];
  readonly #volumes = new Map<string, { bytes: number; nodes: Set<string> }>();
  readonly #name: string;
  topology: readonly CsiMap[] = [];
  nodeExpansionRequired = true;
  /** Thrown by the next call that changes something. */
  failure: Error | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  controller(name: string, nodeName: string): CsiControllerDriver | undefined {
    if (name !== this.#name) return undefined;
    this.calledOn.push(nodeName);
    return this;
  }

  listen(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  /** "id-<name> <bytes> <nodes>", sorted. */
  state(): readonly string[] {
    return [...this.#volumes].map(([id, { bytes, nodes }]) => `${id} ${bytes} ${[...nodes].join()}`.trim()).toSorted();
  }

  async getPluginInfo() {
    return { name: this.#name, vendorVersion: "1" };
  }

  async getPluginCapabilities() {
    return this.pluginCapabilities;
  }

  async probe() {
    return true;
  }

  async controllerGetCapabilities() {
    return this.capabilities;
  }

  async createVolume(request: CsiCreateVolumeRequest): Promise<CsiVolume> {
    this.#mayFail();
    this.created.push(request);
    const volumeId = `id-${request.name}`;
    const bytes = request.capacity.requiredBytes;
    if (!this.#volumes.has(volumeId)) this.#volumes.set(volumeId, { bytes, nodes: new Set() });
    return { volumeId, capacityBytes: bytes, volumeContext: { made: "yes" }, accessibleTopology: this.topology };
  }

  async deleteVolume({ volumeId }: { readonly volumeId: string }): Promise<void> {
    this.#mayFail();
    this.#volumes.delete(volumeId);
  }

  async controllerPublishVolume({ volumeId, nodeId }: { readonly volumeId: string; readonly nodeId: string }): Promise<CsiMap> {
    this.#mayFail();
    this.#volumes.get(volumeId)?.nodes.add(nodeId);
    return { device: "sdb" };
  }

  async controllerUnpublishVolume({ volumeId, nodeId }: { readonly volumeId: string; readonly nodeId: string }): Promise<void> {
    this.#mayFail();
    this.#volumes.get(volumeId)?.nodes.delete(nodeId);
  }

  async controllerExpandVolume({ volumeId, capacity }: Parameters<CsiControllerDriver["controllerExpandVolume"]>[0]) {
    this.#mayFail();
    const volume = this.#volumes.get(volumeId);
    if (volume !== undefined) volume.bytes = Math.max(volume.bytes, capacity.requiredBytes);
    return { capacityBytes: capacity.requiredBytes, nodeExpansionRequired: this.nodeExpansionRequired };
  }

  async controllerModifyVolume(): Promise<void> {
    this.#mayFail();
  }

  async getCapacity() {
    return { availableBytes: 0, maximumVolumeBytes: undefined };
  }

  #mayFail(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }
}
