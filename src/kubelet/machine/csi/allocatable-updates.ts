/**
 * Keeps the volume limits in the CSINode current for drivers whose CSIDriver has `nodeAllocatableUpdatePeriodSeconds`: asks the driver again
 * with that period and publishes what it reports. Watches CSIDrivers from the first registered driver on.
 */
import { csiDrivers } from "../../../api/storage.k8s.io/v1/csi-driver.ts";
import type { CSIDriver } from "../../../api/generated/storage.k8s.io/v1.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Informer, Informers } from "../../../client/informer/informer.ts";
import type { CsiDrivers } from "./csi-drivers.ts";

export interface AllocatableUpdatesOptions {
  readonly drivers: Pick<CsiDrivers, "list" | "listen" | "publishInfo">;
  /** Has the identity of the node. Owned by the caller. */
  readonly informers: Pick<Informers, "of">;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Updating {
  readonly periodSeconds: number;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export class AllocatableUpdates implements AsyncDisposable {
  readonly #options: AllocatableUpdatesOptions;
  readonly #updating = new Map<string, Updating>();
  readonly #ending = new Set<Promise<void>>();
  readonly #listening: Disposable[] = [];
  #objects: Informer<CSIDriver> | undefined;

  constructor(options: AllocatableUpdatesOptions) {
    this.#options = options;
    this.#listening.push(options.drivers.listen(() => this.#registrationChanged()));
    this.#registrationChanged();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const listening of this.#listening) listening[Symbol.dispose]();
    for (const name of [...this.#updating.keys()]) this.#end(name);
    await Promise.all(this.#ending);
  }

  #registrationChanged(): void {
    const { drivers, informers } = this.#options;
    const names = drivers.list().map(({ name }) => name);
    if (this.#objects === undefined && names.length > 0) {
      this.#objects = informers.of(csiDrivers);
      const changed = ({ metadata }: CSIDriver): void => this.#compare(metadata.name);
      this.#listening.push(this.#objects.listen({ added: changed, updated: changed, deleted: changed }));
    }
    for (const name of new Set([...names, ...this.#updating.keys()])) this.#compare(name);
  }

  #compare(name: string): void {
    const isRegistered = this.#options.drivers.list().some((driver) => driver.name === name);
    const periodSeconds = isRegistered ? this.#objects?.get({ name })?.spec.nodeAllocatableUpdatePeriodSeconds : undefined;
    if (this.#updating.get(name)?.periodSeconds === periodSeconds) return;
    this.#end(name);
    if (periodSeconds === undefined) return;
    const stop = new AbortController();
    this.#updating.set(name, { periodSeconds, stop, ended: this.#run(name, periodSeconds, stop.signal) });
  }

  #end(name: string): void {
    const updating = this.#updating.get(name);
    if (updating === undefined) return;
    this.#updating.delete(name);
    updating.stop.abort(NOT_NEEDED);
    this.#ending.add(updating.ended);
    void updating.ended.then(() => this.#ending.delete(updating.ended));
  }

  /** Never rejects. */
  async #run(name: string, periodSeconds: number, signal: AbortSignal): Promise<void> {
    const { clock, drivers, log } = this.#options;
    for (;;) {
      await clock.sleep(periodSeconds * 1_000, signal).catch(() => undefined); // Stopped.
      if (signal.aborted) return;
      await drivers
        .publishInfo(name, signal)
        .catch((error: unknown) =>
          log.warn("Updating the volume limit of a CSI driver in the CSINode failed; retrying", { driver: name, error }),
        );
    }
  }
}
