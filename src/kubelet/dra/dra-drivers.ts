/**
 * The DRA drivers of a node: they register by a socket, and while one is missing its devices are withdrawn. Several instances of a driver
 * may be registered during an update; the newest is used.
 */
import { resourceSlices } from "../../api/resource.k8s.io/v1/resource-slice.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import type { PluginHandler, RegisteredPlugin } from "../contracts/plugin-handler.ts";
import type { DeviceHealth, DeviceName } from "./device-health.ts";
import { openDraDriver, type DraCallObserver, type DraDriver, type DraDriverClient } from "./dra-driver.ts";
import { watchDeviceHealth } from "./health-streams.ts";
import { DRA_SERVICES, type DraService } from "./messages.ts";

/** Upstream's delay: a driver that is updated is back sooner, and its devices are not withdrawn. */
const WITHDRAW_AFTER_MS = 30_000;
/** Upstream's back-off of deleting slices. */
const RETRY_DELAY = { minMs: 1_000, maxMs: 5 * 60_000, factor: 2 };

export interface DraDriversOptions {
  readonly nodeName: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the drivers' reports go. */
  readonly health: DeviceHealth;
  /** The health of devices changed: the status of Pods may be another one. */
  onHealthChanged?(driver: string, devices: readonly DeviceName[]): void;
  /** Absent: calls of drivers are not counted. */
  readonly observer?: DraCallObserver;
  /** Called when a driver has registered: Pods may wait for it. */
  onRegistered?(): void;
}

export class DraDrivers implements PluginHandler, AsyncDisposable {
  readonly type = "DRAPlugin";
  readonly #options: DraDriversOptions;
  /** By driver, the newest last. None is empty. */
  readonly #drivers = new Map<string, DraDriverClient[]>();
  /** Withdrawals in progress, by driver. */
  readonly #withdrawals = new Map<string, AbortController>();
  /** Ends the health stream of a driver instance. */
  readonly #watches = new Map<DraDriverClient, AbortController>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(options: DraDriversOptions) {
    this.#options = options;
  }

  /** Undefined if it is not registered. */
  driver(name: string): DraDriver | undefined {
    return this.#drivers.get(name)?.at(-1);
  }

  /** Called once the node is registered: slices of an earlier life are deleted. Drivers that run publish theirs again. */
  nodeRegistered(): void {
    this.#run(this.#deleteSlices(undefined, this.#stop.signal));
  }

  validate(plugin: RegisteredPlugin): void {
    serviceOf(plugin);
  }

  async register(plugin: RegisteredPlugin): Promise<void> {
    const { name, endpoint } = plugin;
    const known = this.#drivers.get(name) ?? [];
    if (known.some((driver) => driver.endpoint === endpoint))
      throw new Error(`endpoint ${endpoint} already registered for DRA driver plugin ${name}`);
    const { clock, observer } = this.#options;
    const driver = await openDraDriver({ driverName: name, endpoint, service: serviceOf(plugin), clock, observer });
    this.#drivers.set(name, [...(this.#drivers.get(name) ?? []), driver]);
    this.#withdrawals.get(name)?.abort();
    this.#watchHealth(name, driver);
    this.#options.onRegistered?.();
  }

  async deregister({ name, endpoint }: RegisteredPlugin): Promise<void> {
    const known = this.#drivers.get(name) ?? [];
    for (const driver of known) if (driver.endpoint === endpoint) this.#close(driver);
    const left = known.filter((driver) => driver.endpoint !== endpoint);
    if (left.length > 0) {
      this.#drivers.set(name, left);
      return;
    }
    this.#drivers.delete(name);
    if (!this.#withdrawals.has(name)) this.#run(this.#withdraw(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    for (const driver of [...this.#drivers.values()].flat()) driver[Symbol.dispose]();
  }

  #watchHealth(name: string, driver: DraDriverClient): void {
    const { health, clock, log } = this.#options;
    const ends = new AbortController();
    this.#watches.set(driver, ends);
    const onChanged = (changed: string, devices: readonly DeviceName[]): void => this.#options.onHealthChanged?.(changed, devices);
    const signal = AbortSignal.any([ends.signal, this.#stop.signal]);
    this.#run(watchDeviceHealth(driver, { driver: name, health, clock, log, onChanged }, signal));
  }

  #close(driver: DraDriverClient): void {
    this.#watches.get(driver)?.abort();
    this.#watches.delete(driver);
    driver[Symbol.dispose]();
  }

  #run(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** Never rejects. */
  async #withdraw(name: string): Promise<void> {
    const cancel = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, cancel.signal]);
    this.#withdrawals.set(name, cancel);
    try {
      await this.#options.clock.sleep(WITHDRAW_AFTER_MS, signal);
      await this.#deleteSlices(name, signal);
    } catch {
      // The driver is back, or the kubelet stops.
    } finally {
      this.#withdrawals.delete(name);
    }
  }

  /** Of one driver, or of all. Retries until it is done or aborted; never rejects. */
  async #deleteSlices(driver: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, nodeName, clock, log } = this.#options;
    const fieldSelector = `spec.nodeName=${nodeName}${driver === undefined ? "" : `,spec.driver=${driver}`}`;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await client.deleteCollection(resourceSlices, { fieldSelector, signal });
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn("Deleting the ResourceSlices of a missing driver failed; retrying", { fieldSelector, error });
        await clock.sleep(exponentialDelayMs(RETRY_DELAY, failures), signal).catch(() => undefined);
      }
    }
  }
}

/** The first of the driver's services that the kubelet knows. Throws with upstream's message. */
function serviceOf({ name, endpoint, supportedVersions }: RegisteredPlugin): DraService {
  const fail = (problem: string): never => {
    throw new Error(`invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${problem}`);
  };
  if (supportedVersions.length === 0) return fail("empty list of supported gRPC services (aka supported versions)");
  const found = supportedVersions
    .map((version) => DRA_SERVICES.find((service) => service === version))
    .find((service) => service !== undefined);
  const quoted = (list: readonly string[]): string => `[${list.map((each) => JSON.stringify(each)).join(" ")}]`;
  return (
    found ??
    fail(`none of services supported by the plugin (${quoted(supportedVersions)}) are supported by the kubelet (${quoted(DRA_SERVICES)})`)
  );
}
