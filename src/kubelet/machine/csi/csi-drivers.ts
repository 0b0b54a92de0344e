/**
 * CSI drivers that are registered on this node: the handler of the plugin type CSIPlugin, and the lookup of a driver by name. A driver is
 * usable as soon as it is registered, and the CSINode lists it from then on. Not here: finding the sockets (kubelet/plugin-registration),
 * what volumes do with a driver (kubelet/volumes/csi).
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { CSI_TIMEOUT_MS, openCsiConnection, type CsiCallObserver, type CsiConnection } from "../../../csi/client/csi-client.ts";
import { CsiControllerClient } from "../../../csi/client/controller-client.ts";
import { CsiNodeClient } from "../../../csi/client/node-client.ts";
import type { CsiControllerDriver, CsiNodeDriver } from "../../../csi/contract.ts";
import { CsiError } from "../../../csi/csi-error.ts";
import type { DriverAnswer, DriverCalls } from "../../contracts/driver-calls.ts";
import type { PluginHandler, RegisteredPlugin } from "../../contracts/plugin-handler.ts";
import { toDefaultRoot } from "../../shared/default-root.ts";
import type { CsiNodeManager } from "../../node/csi-node-manager.ts";
import type { InstalledCsiDriver } from "../../node/csi-node-object.ts";

export interface CsiDriversOptions {
  /** The kubelet's, without symbolic links. */
  readonly rootDirectory: string;
  readonly csiNode: Pick<CsiNodeManager, "install" | "update" | "uninstall">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Absent: calls are not counted. */
  readonly observerOf?: (driver: string) => CsiCallObserver;
  /** Deadline of each call. Default: upstream's two minutes. */
  readonly timeoutMs?: number;
}

interface Driver {
  readonly connection: CsiConnection;
  readonly client: CsiNodeClient;
  readonly controller: CsiControllerClient;
  readonly endpoint: string;
  readonly version: Version;
}

type Version = readonly [major: number, minor: number, patch: number];

export class CsiDrivers implements PluginHandler, DriverCalls, Disposable {
  readonly type = "CSIPlugin";
  readonly #options: CsiDriversOptions;
  readonly #drivers = new Map<string, Driver>();
  readonly #listeners = new Set<() => void>();

  constructor(options: CsiDriversOptions) {
    this.#options = options;
  }

  /** Undefined if no driver of this name is registered. */
  driver(name: string): CsiNodeDriver | undefined {
    return this.#drivers.get(name)?.client;
  }

  /** The controller service behind the same socket; calls reject with UNIMPLEMENTED if the driver has none there. */
  controller(name: string): CsiControllerDriver | undefined {
    return this.#drivers.get(name)?.controller;
  }

  async call(driver: string, method: string, request: Uint8Array, signal: AbortSignal): Promise<DriverAnswer> {
    const connection = this.#drivers.get(driver)?.connection;
    if (connection === undefined) return { is: "missing" };
    try {
      return { is: "answer", message: await connection.send(method, request, { signal }) };
    } catch (error) {
      const { code, details } = error instanceof CsiError ? error : { code: "INTERNAL", details: String(error) };
      return { is: "failed", code, message: details };
    }
  }

  /** Registered drivers with their sockets. */
  list(): readonly { readonly name: string; readonly endpoint: string }[] {
    return [...this.#drivers].map(([name, { endpoint }]) => ({ name, endpoint }));
  }

  /** Calls back after every registration and deregistration. */
  listen(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  validate(plugin: RegisteredPlugin): void {
    try {
      this.#checkVersions("ValidatePlugin", plugin);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`validation failed for CSI Driver ${plugin.name} at endpoint ${plugin.endpoint}: ${reason}`, { cause: error });
    }
  }

  async register(plugin: RegisteredPlugin, signal: AbortSignal): Promise<void> {
    const { clock, observerOf, timeoutMs = CSI_TIMEOUT_MS } = this.#options;
    const { name, endpoint } = plugin;
    const version = this.#checkVersions("RegisterPlugin", plugin);
    const connection = await openCsiConnection({ socket: endpoint, clock, timeoutMs, observer: observerOf?.(name) });
    const client = new CsiNodeClient(name, connection, this.#pathsFor(plugin));
    this.#replace(name, { connection, client, controller: new CsiControllerClient(connection), endpoint, version });
    try {
      await this.#options.csiNode.install(await installedAs(client, signal));
    } catch (error) {
      await this.#remove(name).catch((failure: unknown) =>
        this.#options.log.warn("Removing a CSI driver that failed to register from the CSINode failed", { driver: name, error: failure }),
      );
      throw error;
    }
    this.#changed();
  }

  /** Publishes what the driver reports now: its limit may have changed. Rejects if it is not registered. */
  async publishInfo(name: string, signal: AbortSignal): Promise<void> {
    const client = this.#drivers.get(name)?.client;
    if (client === undefined) throw new Error(`Cannot update the CSINode: CSI driver ${name} is not registered`);
    await this.#options.csiNode.update(await installedAs(client, signal));
  }

  async deregister({ name, endpoint }: RegisteredPlugin): Promise<void> {
    // A newer driver of the same name may have registered at another socket.
    if (this.#drivers.get(name)?.endpoint !== endpoint && this.#drivers.has(name)) return;
    await this.#remove(name);
    this.#changed();
  }

  [Symbol.dispose](): void {
    for (const { client } of this.#drivers.values()) client[Symbol.dispose]();
    this.#drivers.clear();
  }

  async #remove(name: string): Promise<void> {
    this.#drivers.get(name)?.client[Symbol.dispose]();
    this.#drivers.delete(name);
    await this.#options.csiNode.uninstall(name);
  }

  /** Paths as the driver has them in its file system. */
  #pathsFor({ usesDefaultRoot }: RegisteredPlugin): (path: string) => string {
    const { rootDirectory } = this.#options;
    return usesDefaultRoot ? (path) => toDefaultRoot(path, rootDirectory) : (path) => path;
  }

  #replace(name: string, driver: Driver): void {
    this.#drivers.get(name)?.client[Symbol.dispose]();
    this.#drivers.set(name, driver);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Throws upstream's messages. */
  #checkVersions(caller: string, { name, supportedVersions }: RegisteredPlugin): Version {
    const start = `kubernetes.io/csi: ${caller} for CSI driver "${name}" failed.`;
    if (supportedVersions.length === 0) throw new Error(`${start} Plugin returned an empty list for supported versions`);
    const highest = highestSupported(supportedVersions);
    if (highest === undefined) {
      const given = `["${supportedVersions.join('" "')}"]`;
      const reason = "could not find a highest supported version from versions that are unsupported or cannot be parsed";
      throw new Error(`${start} None of the versions specified ${given} are supported. err=${reason}`);
    }
    const existing = this.#drivers.get(name)?.version;
    if (existing !== undefined && compareVersions(existing, highest) >= 0) {
      const other = `"${existing.join(".")}"`;
      throw new Error(`${start} Another driver with the same name is already registered with a higher supported version: ${other}`);
    }
    return highest;
  }
}

async function installedAs(client: CsiNodeClient, signal: AbortSignal): Promise<InstalledCsiDriver> {
  const { nodeId, maxVolumesPerNode, accessibleTopology } = await client.nodeGetInfo({ signal });
  return { name: client.name, nodeId, maxVolumes: maxVolumesPerNode, topology: accessibleTopology ?? {} };
}

/** Versions 1.x; 0.x is no longer supported, and 2.x need not be compatible. */
function highestSupported(versions: readonly string[]): Version | undefined {
  const parsed = versions.flatMap((text) => {
    const { major, minor, patch } = /^v?(?<major>\d+)\.(?<minor>\d+)(?:\.(?<patch>\d+))?/.exec(text)?.groups ?? {};
    return major === "1" ? [[1, Number(minor), Number(patch ?? 0)] as const] : [];
  });
  return parsed.toSorted(compareVersions).at(-1);
}

function compareVersions(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
