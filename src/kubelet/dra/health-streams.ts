/**
 * Watches the health of devices that a DRA driver reports (service DRAResourceHealth): one stream per driver, opened again some seconds
 * after it ended, also for a driver without that service. What a stream reported ends with it. Follows upstream's plugin manager.
 */
import { anySignal } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { DeviceHealth, DeviceName, ReportedHealth } from "./device-health.ts";

/** Upstream's delay before a stream is opened again. */
const REOPEN_AFTER_MS = 5_000;

/** A source of complete reports. */
export interface HealthSource {
  /** Resolves when the stream ended, for whatever reason. */
  watchHealth(onReport: (devices: readonly ReportedHealth[]) => void, signal: AbortSignal): Promise<void>;
}

export interface HealthStreamOptions {
  readonly driver: string;
  readonly health: DeviceHealth;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with devices whose health is another one now. */
  onChanged(driver: string, devices: readonly DeviceName[]): void;
}

/** Watches until the signal aborts; never rejects. */
export async function watchDeviceHealth(source: HealthSource, options: HealthStreamOptions, signal: AbortSignal): Promise<void> {
  const { driver, health, clock, log } = options;
  const changed = (devices: readonly DeviceName[]): void => {
    if (devices.length > 0) options.onChanged(driver, devices);
  };
  while (!signal.aborted) {
    const timer = new ExpiryTimer(options, changed, signal);
    try {
      await source.watchHealth((devices) => {
        changed(health.update(driver, devices));
        timer.restart();
      }, signal);
      log.debug("The health stream of a DRA driver ended", { driver });
    } catch (error) {
      log.debug("The health stream of a DRA driver failed", { driver, error });
    }
    timer.stop();
    changed(health.clear(driver));
    await clock.sleep(REOPEN_AFTER_MS, signal).catch(() => undefined);
  }
}

/** Reports devices whose last report became too old. */
class ExpiryTimer {
  readonly #options: HealthStreamOptions;
  readonly #changed: (devices: readonly DeviceName[]) => void;
  readonly #signal: AbortSignal;
  #cancel = new AbortController();

  constructor(options: HealthStreamOptions, changed: (devices: readonly DeviceName[]) => void, signal: AbortSignal) {
    this.#options = options;
    this.#changed = changed;
    this.#signal = signal;
  }

  restart(): void {
    this.stop();
    const { driver, health, clock } = this.#options;
    const delayMs = health.expiresInMs(driver);
    if (delayMs === undefined || this.#signal.aborted) return;
    this.#cancel = new AbortController();
    clock.sleep(delayMs, anySignal(this.#cancel.signal, this.#signal)).then(
      () => {
        this.#changed(health.expire(driver));
        this.restart();
      },
      () => undefined,
    );
  }

  stop(): void {
    this.#cancel.abort();
  }
}
