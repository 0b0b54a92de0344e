/**
 * What the DRA drivers of a node report about the health of their devices, in memory and in a file, so that a restarted kubelet does not
 * report Unknown until its drivers are back. A report that is older than its timeout counts as Unknown. Follows upstream's healthinfo.
 * Not here: the streams of drivers (health-streams.ts), and the status of containers (resource-health.ts).
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { fileExists, readWhole } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";

export type Health = "Healthy" | "Unhealthy" | "Unknown";

export interface DeviceName {
  readonly poolName: string;
  readonly deviceName: string;
}

/** As a driver reports it. */
export interface ReportedHealth extends DeviceName {
  readonly health: Health;
  /** "": none. */
  readonly message: string;
  /** After this duration without another report the health is Unknown. */
  readonly timeoutMs: number;
}

interface StoredHealth extends ReportedHealth {
  readonly updatedAtMs: number;
}

interface Checkpoint {
  readonly version: "v1";
  readonly drivers: Readonly<Record<string, readonly StoredHealth[]>>;
}

export interface DeviceHealthOptions {
  /** Path of the file. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const UNKNOWN = { health: "Unknown", message: "" } as const;

export class DeviceHealth {
  readonly #options: DeviceHealthOptions;
  /** By driver, then by pool and device. */
  readonly #drivers = new Map<string, Map<string, StoredHealth>>();
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: DeviceHealthOptions, drivers: Checkpoint["drivers"]) {
    this.#options = options;
    for (const [driver, devices] of Object.entries(drivers))
      this.#drivers.set(driver, new Map(devices.map((device) => [keyOf(device), device])));
  }

  /** Starts empty if the file is missing or damaged: drivers report everything again. */
  static async open(options: DeviceHealthOptions): Promise<DeviceHealth> {
    const { path, log } = options;
    if (!(await fileExists(path))) return new DeviceHealth(options, {});
    try {
      const { version, drivers } = JSON.parse(new TextDecoder().decode(await readWhole(path))) as Checkpoint;
      if (version !== "v1") throw new Error(`its version is ${JSON.stringify(version)}, not "v1"`);
      return new DeviceHealth(options, drivers);
    } catch (error) {
      log.warn("The health of devices of an earlier start cannot be read and is ignored", { path, error });
      return new DeviceHealth(options, {});
    }
  }

  of(driver: string, device: DeviceName): Pick<ReportedHealth, "health" | "message"> {
    const known = this.#drivers.get(driver)?.get(keyOf(device));
    return known === undefined || this.#isStale(known) ? UNKNOWN : { health: known.health, message: known.message };
  }

  /** Records a complete report of a driver. Returns the devices whose health changed. */
  update(driver: string, reports: readonly ReportedHealth[]): readonly DeviceName[] {
    const before = this.#drivers.get(driver) ?? new Map<string, StoredHealth>();
    const updatedAtMs = this.#options.clock.now();
    const after = new Map(reports.map((report) => [keyOf(report), { ...report, updatedAtMs }]));
    const changed: DeviceName[] = [...after.values()].filter((report) => !isSame(before.get(keyOf(report)), report));
    for (const [key, device] of before) {
      if (after.has(key)) continue;
      // A device that is not reported keeps its health until its timeout.
      if (this.#isStale(device)) changed.push(device);
      else after.set(key, device);
    }
    this.#drivers.set(driver, after);
    if (changed.length > 0) this.#write();
    return changed;
  }

  /** Forgets reports that are older than their timeouts. Returns their devices. */
  expire(driver: string): readonly DeviceName[] {
    const known = this.#drivers.get(driver);
    const stale = [...(known?.values() ?? [])].filter((device) => this.#isStale(device));
    for (const device of stale) known?.delete(keyOf(device));
    if (stale.length > 0) this.#write();
    return stale;
  }

  /** Duration until the next report of a driver expires; undefined if it reported none. */
  expiresInMs(driver: string): number | undefined {
    const nowMs = this.#options.clock.now();
    let soonestMs: number | undefined;
    for (const { updatedAtMs, timeoutMs } of this.#drivers.get(driver)?.values() ?? [])
      soonestMs = Math.min(soonestMs ?? Infinity, updatedAtMs + timeoutMs - nowMs);
    // Stale is later than the timeout, by the clock's resolution at least.
    return soonestMs === undefined ? undefined : Math.max(0, soonestMs) + 1;
  }

  /** Forgets a driver whose stream ended. Returns the devices that it had reported. */
  clear(driver: string): readonly DeviceName[] {
    const devices = [...(this.#drivers.get(driver)?.values() ?? [])];
    this.#drivers.delete(driver);
    if (devices.length > 0) this.#write();
    return devices;
  }

  /** Resolves when everything is on disk. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #isStale({ updatedAtMs, timeoutMs }: StoredHealth): boolean {
    return this.#options.clock.now() - updatedAtMs > timeoutMs;
  }

  /** One after the other; each writes the newest state. */
  #write(): void {
    const { path, log } = this.#options;
    this.#writing = this.#writing.then(async () => {
      const drivers = Object.fromEntries([...this.#drivers].map(([driver, devices]) => [driver, [...devices.values()]]));
      const checkpoint: Checkpoint = { version: "v1", drivers };
      await writePrivateText(path, `${JSON.stringify(checkpoint)}\n`).catch((error: unknown) =>
        log.warn("The health of devices cannot be written; a restart of the kubelet loses it", { path, error }),
      );
    });
  }
}

function keyOf({ poolName, deviceName }: DeviceName): string {
  return `${poolName}/${deviceName}`;
}

function isSame(a: ReportedHealth | undefined, b: ReportedHealth): boolean {
  return a?.health === b.health && a.message === b.message && a.timeoutMs === b.timeoutMs;
}
