/**
 * A CSI driver for tests: identity, controller and node services on a Unix socket. A volume is a directory, published by bind mounts, or, as
 * a block device, a file on a loop device. What it did is on disk below one directory, so that a restarted driver continues, and `state`
 * returns it for comparison. Each call can be made to fail, to fail after it was executed, or to hang.
 */
import { mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decode, encode, type Decoded, type Encodable } from "../../base/protobuf/messages.ts";
import { aborted } from "../../base/abort.ts";
import type { CsiControllerCapability, CsiNodeCapability } from "../../csi/contract.ts";
import type { CsiMethod } from "../../csi/messages/common.ts";
import * as controller from "../../csi/messages/controller.ts";
import * as identity from "../../csi/messages/identity.ts";
import * as node from "../../csi/messages/node.ts";
import { GrpcError } from "../../host/grpc/channel.ts";
import { startGrpcServer, type GrpcHandler } from "../../host/grpc/server.ts";
import { attachLoopDevice, detachLoopDevice } from "../../host/kernel/loop-devices.ts";
import { isMountedAt } from "../../host/kernel/mount-table.ts";
import { bindMount, unmountUnder } from "../../host/kernel/mounts.ts";
import { diskBytes } from "../../host/kernel/machine-facts.ts";
import { realClock } from "../../host/real-clock.ts";

/** "fails": not executed; "fails afterwards": executed, and the answer is lost; "hangs": executed, and never answered. */
export type CsiFault = "fails" | "fails afterwards" | "hangs";

export interface CsiTestDriverOptions {
  /** Of its volumes and of what it did. Created if missing. */
  readonly directory: string;
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

interface StoredVolume {
  readonly capacityBytes: number;
  readonly isBlock: boolean;
  /** Node ids that the controller part published it to. */
  readonly nodes: readonly string[];
}

export class CsiTestDriver implements AsyncDisposable {
  /** Names of the calls, such as "NodeStageVolume", in order of arrival. */
  readonly calls: string[] = [];
  /** Target paths of NodePublishVolume and NodeUnpublishVolume, in order of arrival. */
  readonly targets: string[] = [];
  readonly #options: CsiTestDriverOptions;
  readonly #faults = new Map<string, CsiFault>();
  #server: AsyncDisposable | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(options: CsiTestDriverOptions) {
    this.#options = options;
  }

  static async start(options: CsiTestDriverOptions): Promise<CsiTestDriver> {
    const driver = new CsiTestDriver(options);
    await mkdir(join(options.directory, "volumes"), { recursive: true });
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
    for (const id of await this.#volumeIds()) {
      const { capacityBytes, nodes } = await this.#read(id);
      const paths = [];
      for (const path of await this.#paths(id)) if (await isMountedAt(path)) paths.push(path);
      lines.push(`${id} ${capacityBytes} nodes=${nodes.join()} mounts=${paths.length}`);
    }
    return lines;
  }

  /** Where the files of a volume are. */
  contents(id: string): string {
    return join(this.#options.directory, "volumes", id, "data");
  }

  /** A volume that exists without a call. */
  async addVolume(id: string, volume: Partial<StoredVolume> = {}): Promise<void> {
    await mkdir(this.contents(id), { recursive: true });
    const stored = { capacityBytes: 2 ** 20, isBlock: false, nodes: [], ...volume };
    if (stored.isBlock) {
      await writeFile(`${this.contents(id)}/image`, "");
      await truncate(`${this.contents(id)}/image`, stored.capacityBytes);
    }
    await this.#write(id, stored);
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
        const { isBlock } = await this.#existing(volumeId);
        if (isBlock !== (volumeCapability?.block !== undefined)) throw failure("INVALID_ARGUMENT", "wrong access type");
        if (!isBlock) await this.#mountAt(volumeId, this.contents(volumeId), stagingTargetPath);
        return {};
      }),
      this.#method(node.nodeUnstageVolume, async ({ volumeId, stagingTargetPath }) => this.#unmountAt(volumeId, stagingTargetPath)),
      this.#method(node.nodePublishVolume, async (request) => {
        this.targets.push(request.targetPath);
        if (request.volumeCapability?.block === undefined) await this.#publishDirectory(request);
        else await this.#publishDevice(request.volumeId, request.targetPath);
        return {};
      }),
      this.#method(node.nodeUnpublishVolume, async ({ volumeId, targetPath }) => {
        this.targets.push(targetPath);
        await this.#unmountAt(volumeId, targetPath);
        await rm(targetPath, { recursive: true, force: true });
        await this.#releaseDevice(volumeId);
        return {};
      }),
      this.#method(node.nodeGetVolumeStats, async ({ volumePath }) => {
        const { totalBytes: total, freeBytes: available } = await diskBytes(volumePath);
        return { usage: [{ unit: 1, total, available, used: total - available }] };
      }),
      this.#method(node.nodeExpandVolume, async ({ volumeId, capacityRange }) => {
        const { capacityBytes } = await this.#existing(volumeId);
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
        const capacityBytes = Math.max(capacityRange?.requiredBytes ?? 0, 2 ** 20);
        if (!(await this.#volumeIds()).includes(name)) {
          await this.addVolume(name, { capacityBytes, isBlock: volumeCapabilities.some(({ block }) => block !== undefined) });
        }
        const accessibleTopology = topology === undefined ? [] : [{ segments }];
        return { volume: { volumeId: name, capacityBytes, volumeContext: parameters, accessibleTopology } };
      }),
      this.#method(controller.deleteVolume, async ({ volumeId }) => {
        if ((await this.state()).some((line) => line.startsWith(`${volumeId} `) && !line.endsWith("mounts=0"))) {
          throw failure("FAILED_PRECONDITION", `volume ${volumeId} is in use`);
        }
        await rm(join(this.#options.directory, "volumes", volumeId), { recursive: true, force: true });
        return {};
      }),
      this.#method(controller.controllerPublishVolume, async ({ volumeId, nodeId }) => {
        const volume = await this.#existing(volumeId);
        await this.#write(volumeId, { ...volume, nodes: [...new Set([...volume.nodes, nodeId])] });
        return { publishContext: [{ key: "node", value: nodeId }] };
      }),
      this.#method(controller.controllerUnpublishVolume, async ({ volumeId, nodeId }) => {
        if (!(await this.#volumeIds()).includes(volumeId)) return {};
        const volume = await this.#read(volumeId);
        await this.#write(volumeId, { ...volume, nodes: volume.nodes.filter((other) => other !== nodeId) });
        return {};
      }),
      this.#method(controller.controllerExpandVolume, async ({ volumeId, capacityRange }) => {
        const volume = await this.#existing(volumeId);
        const capacityBytes = Math.max(volume.capacityBytes, capacityRange?.requiredBytes ?? 0);
        await this.#write(volumeId, { ...volume, capacityBytes });
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
        const fault = this.#faults.get(name);
        this.#faults.delete(name);
        if (fault === "fails") throw failure("INTERNAL", `${name} fails`);
        const answer = await this.#inTurn(() => run(decode<M["request"]>(method.request, bytes)));
        if (fault === "hangs") await aborted(signal);
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

  async #publishDirectory({
    volumeId,
    stagingTargetPath,
    targetPath,
    readonly,
    volumeContext,
  }: Decoded<(typeof node.nodePublishVolume)["request"]>) {
    const isInline = volumeContext.some(({ key, value }) => key === "csi.storage.k8s.io/ephemeral" && value === "true");
    if (isInline && !(await this.#volumeIds()).includes(volumeId)) await this.addVolume(volumeId);
    await this.#existing(volumeId);
    const source = stagingTargetPath === "" ? this.contents(volumeId) : stagingTargetPath;
    if (stagingTargetPath !== "" && !(await isMountedAt(stagingTargetPath)))
      throw failure("FAILED_PRECONDITION", `${volumeId} is not staged`);
    await this.#mountAt(volumeId, source, targetPath, readonly ? ["ro"] : []);
  }

  async #publishDevice(volumeId: string, targetPath: string): Promise<void> {
    await this.#existing(volumeId);
    if (await isMountedAt(targetPath)) return;
    const file = join(this.#options.directory, "volumes", volumeId, "device");
    const device = (await readFile(file, "utf8").catch(() => "")) || (await attachLoopDevice(`${this.contents(volumeId)}/image`));
    await writeFile(file, device);
    await this.#record(volumeId, targetPath);
    await writeFile(targetPath, "");
    await bindMount(device, targetPath, []);
  }

  async #releaseDevice(volumeId: string): Promise<void> {
    const file = join(this.#options.directory, "volumes", volumeId, "device");
    const device = await readFile(file, "utf8").catch(() => "");
    if (device === "" || (await this.state()).some((line) => line.startsWith(`${volumeId} `) && !line.endsWith("mounts=0"))) return;
    await detachLoopDevice(device);
    await rm(file);
  }

  async #mountAt(volumeId: string, source: string, target: string, options: readonly string[] = []): Promise<void> {
    if (await isMountedAt(target)) return;
    await this.#record(volumeId, target);
    await mkdir(target, { recursive: true });
    await bindMount(source, target, options);
  }

  async #unmountAt(volumeId: string, target: string): Promise<Record<string, never>> {
    await unmountUnder(target);
    const paths = (await this.#paths(volumeId)).filter((path) => path !== target);
    const exists = (await this.#volumeIds()).includes(volumeId);
    if (exists) await writeFile(join(this.#options.directory, "volumes", volumeId, "paths.json"), JSON.stringify(paths));
    return {};
  }

  async #record(volumeId: string, target: string): Promise<void> {
    const paths = [...new Set([...(await this.#paths(volumeId)), target])];
    await writeFile(join(this.#options.directory, "volumes", volumeId, "paths.json"), JSON.stringify(paths));
  }

  async #paths(volumeId: string): Promise<readonly string[]> {
    const text = await readFile(join(this.#options.directory, "volumes", volumeId, "paths.json"), "utf8").catch(() => "[]");
    return JSON.parse(text) as string[];
  }

  async #volumeIds(): Promise<readonly string[]> {
    return (await readdir(join(this.#options.directory, "volumes"))).toSorted();
  }

  async #existing(id: string): Promise<StoredVolume> {
    if (!(await this.#volumeIds()).includes(id)) throw failure("NOT_FOUND", `volume ${id} does not exist`);
    return this.#read(id);
  }

  async #read(id: string): Promise<StoredVolume> {
    return JSON.parse(await readFile(join(this.#options.directory, "volumes", id, "volume.json"), "utf8")) as StoredVolume;
  }

  async #write(id: string, volume: StoredVolume): Promise<void> {
    await writeFile(join(this.#options.directory, "volumes", id, "volume.json"), JSON.stringify(volume));
  }
}

function failure(code: GrpcError["code"], details: string): GrpcError {
  return new GrpcError(code, details, { sent: true });
}
