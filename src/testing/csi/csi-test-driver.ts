/**
 * A CSI driver for tests: identity, controller and node services on a Unix socket. A volume is an image file on a loop device, with a file
 * system or as a block device; without loop devices it is a directory that is published by bind mounts. What it did is on disk
 * (driver-volumes.ts), so that a restarted driver continues, and `state` returns it for comparison. Each call can be made to fail, to fail
 * after it was executed, or to hang (driver-faults.ts).
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { decode, encode, type Decoded, type Encodable } from "../../base/protobuf/messages.ts";
import type { CsiControllerCapability, CsiNodeCapability } from "../../csi/contract.ts";
import type { CsiMethod } from "../../csi/messages/common.ts";
import * as controller from "../../csi/messages/controller.ts";
import * as identity from "../../csi/messages/identity.ts";
import * as node from "../../csi/messages/node.ts";
import { GrpcError } from "../../host/grpc/channel.ts";
import { startGrpcServer, type GrpcHandler } from "../../host/grpc/server.ts";
import { isMountedAt } from "../../host/kernel/mount-table.ts";
import { diskBytes } from "../../host/kernel/machine-facts.ts";
import { realClock } from "../../host/real-clock.ts";
import { DriverFaults, type CsiFault } from "./driver-faults.ts";
import { DriverVolumes, type NewVolume, type StoredVolume, type VolumeKind } from "./driver-volumes.ts";

export interface CsiTestDriverOptions {
  /** Of its volumes and of what it did. Created if missing. */
  readonly directory: string;
  /** Of volumes with a file system, unless a call names another one. */
  readonly fileSystem: Exclude<VolumeKind, "block">;
  /** Of files with faults, for a driver in another process. */
  readonly faultsDirectory?: string | undefined;
  /** Absolute path. */
  readonly socket: string;
  readonly name: string;
  readonly nodeId: string;
  readonly nodeCapabilities?: readonly CsiNodeCapability[];
  readonly controllerCapabilities?: readonly CsiControllerCapability[];
  readonly topology?: Readonly<Record<string, string>>;
  readonly maxVolumesPerNode?: number;
}

const NODE_CAPABILITIES: readonly CsiNodeCapability[] = ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME"];
const CONTROLLER_CAPABILITIES: readonly CsiControllerCapability[] = [
  "CREATE_DELETE_VOLUME",
  "PUBLISH_UNPUBLISH_VOLUME",
  "EXPAND_VOLUME",
  "GET_CAPACITY",
];

/** Of GetCapacity. */
const CAPACITY_BYTES = 2 ** 34;

export class CsiTestDriver implements AsyncDisposable {
  /** Names of the calls, such as "NodeStageVolume", in order of arrival. */
  readonly calls: string[] = [];
  /** Target paths of NodePublishVolume and NodeUnpublishVolume, in order of arrival. */
  readonly targets: string[] = [];
  readonly #options: CsiTestDriverOptions;
  readonly #volumes: DriverVolumes;
  readonly #faults: DriverFaults;
  #server: AsyncDisposable | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(options: CsiTestDriverOptions, volumes: DriverVolumes, faults: DriverFaults) {
    this.#options = options;
    this.#volumes = volumes;
    this.#faults = faults;
  }

  static async start(options: CsiTestDriverOptions): Promise<CsiTestDriver> {
    const volumes = await DriverVolumes.open(join(options.directory, "volumes"));
    const driver = new CsiTestDriver(options, volumes, await DriverFaults.open(options.faultsDirectory));
    await rm(options.socket, { force: true });
    driver.#server = await startGrpcServer({ socket: options.socket, methods: driver.#methods(), clock: realClock });
    return driver;
  }

  /** The next call of this name ends so. */
  fault(method: string, fault: CsiFault): void {
    this.#faults.set(method, fault);
  }

  /** One line per volume, with what is staged and published now. */
  async state(): Promise<readonly string[]> {
    const lines = [];
    for (const id of await this.#volumes.ids()) {
      const { capacityBytes, nodes } = await this.#volumes.read(id);
      lines.push(`${id} ${capacityBytes} nodes=${nodes.join()} mounts=${(await this.#volumes.mounts(id)).length}`);
    }
    return lines;
  }

  /** A volume that exists without a call. */
  async addVolume(id: string, volume: Partial<NewVolume> = {}): Promise<void> {
    await this.#volumes.add(id, { capacityBytes: 2 ** 20, kind: this.#options.fileSystem, ...volume });
  }

  /** Enlarges it, as the controller does before the node. */
  async enlarge(id: string, capacityBytes: number): Promise<void> {
    await this.#volumes.write(id, { ...(await this.#volumes.read(id)), capacityBytes });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    await rm(this.#options.socket, { force: true });
  }

  #methods(): Record<string, GrpcHandler> {
    return Object.fromEntries([...this.#identity(), ...this.#node(), ...this.#controller()]);
  }

  #identity() {
    const { name, topology, controllerCapabilities = CONTROLLER_CAPABILITIES } = this.#options;
    const services = [...(controllerCapabilities.length > 0 ? [1] : []), ...(topology === undefined ? [] : [2])];
    return [
      this.#method(identity.getPluginInfo, async () => ({ name, vendorVersion: "test" })),
      this.#method(identity.getPluginCapabilities, async () => ({
        capabilities: [...services.map((type) => ({ service: { type } })), { volumeExpansion: { type: 1 } }],
      })),
      this.#method(identity.probe, async () => ({ ready: { value: true } })),
    ];
  }

  #node() {
    const { nodeId, topology, maxVolumesPerNode = 0, nodeCapabilities = NODE_CAPABILITIES } = this.#options;
    const segments = Object.entries(topology ?? {}).map(([key, value]) => ({ key, value }));
    return [
      this.#method(node.nodeGetInfo, async () => ({
        ...{ nodeId, maxVolumesPerNode },
        accessibleTopology: topology === undefined ? undefined : { segments },
      })),
      this.#method(node.nodeGetCapabilities, async () => ({
        capabilities: nodeCapabilities.map((name) => ({ rpc: { type: node.NODE_CAPABILITIES.indexOf(name) } })),
      })),
      this.#method(node.nodeStageVolume, async ({ volumeId, stagingTargetPath, volumeCapability }) => {
        const { kind } = await this.#existing(volumeId);
        if ((kind === "block") !== (volumeCapability?.block !== undefined)) throw failure("INVALID_ARGUMENT", "wrong access type");
        if (kind !== "block") await this.#volumes.mount(volumeId, stagingTargetPath);
        return {};
      }),
      this.#method(node.nodeUnstageVolume, async ({ volumeId, stagingTargetPath }) => {
        await this.#volumes.unmount(volumeId, stagingTargetPath);
        return {};
      }),
      this.#method(node.nodePublishVolume, async (request) => {
        this.targets.push(request.targetPath);
        await this.#publish(request);
        return {};
      }),
      this.#method(node.nodeUnpublishVolume, async ({ volumeId, targetPath }) => {
        this.targets.push(targetPath);
        await this.#volumes.unmount(volumeId, targetPath);
        await rm(targetPath, { recursive: true, force: true });
        return {};
      }),
      this.#method(node.nodeGetVolumeStats, async ({ volumePath }) => {
        const { totalBytes: total, freeBytes: available } = await diskBytes(volumePath);
        return { usage: [{ unit: 1, total, available, used: total - available }] };
      }),
      this.#method(node.nodeExpandVolume, async ({ volumeId, volumePath, capacityRange }) => {
        const { capacityBytes } = await this.#existing(volumeId);
        await this.#volumes.grow(volumeId, volumePath);
        return { capacityBytes: Math.max(capacityBytes, capacityRange?.requiredBytes ?? 0) };
      }),
    ];
  }

  #controller() {
    const { topology, controllerCapabilities = CONTROLLER_CAPABILITIES } = this.#options;
    const segments = Object.entries(topology ?? {}).map(([key, value]) => ({ key, value }));
    return [
      this.#method(controller.controllerGetCapabilities, async () => ({
        capabilities: controllerCapabilities.map((name) => ({ rpc: { type: controller.CONTROLLER_CAPABILITIES.indexOf(name) } })),
      })),
      this.#method(controller.createVolume, async ({ name, capacityRange, volumeCapabilities, parameters }) => {
        const wanted = { kind: this.#kindFor(volumeCapabilities), capacityBytes: capacityRange?.requiredBytes ?? 0 };
        const exists = await this.#volumes.has(name);
        const { capacityBytes } = exists ? await this.#volumes.read(name) : await this.#volumes.add(name, wanted);
        const accessibleTopology = topology === undefined ? [] : [{ segments }];
        return { volume: { volumeId: name, capacityBytes, volumeContext: parameters, accessibleTopology } };
      }),
      this.#method(controller.deleteVolume, async ({ volumeId }) => {
        if (!(await this.#volumes.has(volumeId))) return {};
        if ((await this.#volumes.mounts(volumeId)).length > 0) throw failure("FAILED_PRECONDITION", `volume ${volumeId} is in use`);
        await this.#volumes.remove(volumeId);
        return {};
      }),
      this.#method(controller.controllerPublishVolume, async ({ volumeId, nodeId }) => {
        const volume = await this.#existing(volumeId);
        await this.#volumes.write(volumeId, { ...volume, nodes: [...new Set([...volume.nodes, nodeId])] });
        return { publishContext: [{ key: "node", value: nodeId }] };
      }),
      this.#method(controller.controllerUnpublishVolume, async ({ volumeId, nodeId }) => {
        if (!(await this.#volumes.has(volumeId))) return {};
        const volume = await this.#volumes.read(volumeId);
        await this.#volumes.write(volumeId, { ...volume, nodes: volume.nodes.filter((other) => other !== nodeId) });
        return {};
      }),
      this.#method(controller.controllerExpandVolume, async ({ volumeId, capacityRange }) => {
        const volume = await this.#existing(volumeId);
        const capacityBytes = Math.max(volume.capacityBytes, capacityRange?.requiredBytes ?? 0);
        await this.#volumes.write(volumeId, { ...volume, capacityBytes });
        return { capacityBytes, nodeExpansionRequired: true };
      }),
      this.#method(controller.controllerModifyVolume, async () => ({})),
      this.#method(controller.getCapacity, async () => ({ availableCapacity: BigInt(CAPACITY_BYTES) })),
    ];
  }

  #method<M extends CsiMethod>(
    method: M,
    run: (request: Decoded<M["request"]>) => Promise<Encodable<M["response"]>>,
  ): readonly [string, GrpcHandler] {
    const name = method.path.slice(method.path.lastIndexOf("/") + 1);
    return [
      method.path,
      async (bytes, signal) => {
        this.calls.push(name);
        const fault = await this.#faults.take(name);
        if (fault === "fails") throw failure("INTERNAL", `${name} fails`);
        const answer = await this.#inTurn(() => run(decode<M["request"]>(method.request, bytes)));
        if (fault === "hangs") await this.#faults.hang(name, signal);
        if (fault !== undefined) throw failure("UNAVAILABLE", `the answer of ${name} is lost`);
        return encode(method.response, answer);
      },
    ];
  }

  /** A call that the kubelet gave up may still run when it is repeated. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #publish(request: Decoded<(typeof node.nodePublishVolume)["request"]>): Promise<void> {
    const { volumeId, stagingTargetPath, targetPath, readonly, volumeContext, volumeCapability } = request;
    const isInline = volumeContext.some(({ key, value }) => key === "csi.storage.k8s.io/ephemeral" && value === "true");
    if (isInline && !(await this.#volumes.has(volumeId))) await this.addVolume(volumeId);
    await this.#existing(volumeId);
    if (volumeCapability?.block !== undefined) return this.#volumes.showDevice(volumeId, targetPath);
    const options = readonly ? ["ro"] : [];
    if (stagingTargetPath === "") return this.#volumes.mount(volumeId, targetPath, options);
    if (!(await isMountedAt(stagingTargetPath))) throw failure("FAILED_PRECONDITION", `${volumeId} is not staged`);
    await this.#volumes.show(volumeId, stagingTargetPath, targetPath, options);
  }

  #kindFor(capabilities: Decoded<(typeof controller.createVolume)["request"]>["volumeCapabilities"]): VolumeKind {
    if (capabilities.some(({ block }) => block !== undefined)) return "block";
    return capabilities.some(({ mount }) => mount?.fsType === "xfs") ? "xfs" : this.#options.fileSystem;
  }

  async #existing(id: string): Promise<StoredVolume> {
    if (!(await this.#volumes.has(id))) throw failure("NOT_FOUND", `volume ${id} does not exist`);
    return this.#volumes.read(id);
  }
}

function failure(code: GrpcError["code"], details: string): GrpcError {
  return new GrpcError(code, details, { sent: true });
}
