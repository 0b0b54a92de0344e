/**
 * Renews volumes of drivers whose CSIDriver says `requiresRepublish`: from time to time, their Pods' volumes are refreshed, which publishes
 * them again. Not here: the call (kubelet/volumes/csi).
 */
import type { Pod, PodSpec } from "../../../api/generated/core/v1.ts";
import { csiDrivers } from "../../../api/storage.k8s.io/v1/csi-driver.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Client } from "../../../client/client.ts";

/** Upstream publishes again with each sync of a Pod, every 60 to 90 s. */
const INTERVAL_MS = 60_000;

export interface RepublishingOptions {
  /** Names of the registered drivers. */
  drivers(): readonly string[];
  readonly client: Client;
  readonly clock: Clock;
  /** Undefined while the kubelet starts. */
  kubelet(): { pods(): readonly Pod[] } | undefined;
}

export class Republishing implements AsyncDisposable {
  readonly #options: RepublishingOptions;
  readonly #listeners = new Set<(podUid: string) => void>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: RepublishingOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  listen(listener: (podUid: string) => void): Disposable {
    const own = (podUid: string) => listener(podUid);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(NOT_NEEDED);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await clock.sleep(INTERVAL_MS, signal).catch(() => undefined); // Stopped.
      // A server that is away is asked again next time.
      if (!signal.aborted && (await this.#isNeeded(signal).catch(() => false))) this.#notify();
    }
  }

  async #isNeeded(signal: AbortSignal): Promise<boolean> {
    const { client, drivers } = this.#options;
    for (const name of drivers()) {
      const driver = await client.get(csiDrivers, { name }, { signal }).catch(() => undefined);
      if (driver?.spec.requiresRepublish === true) return true;
    }
    return false;
  }

  #notify(): void {
    for (const { metadata, spec } of this.#options.kubelet()?.pods() ?? []) {
      if (metadata.uid === undefined || !mayUseDriver(spec)) continue;
      for (const listener of this.#listeners) listener(metadata.uid);
    }
  }
}

/** Which driver a claim's volume has is known when it is mounted. */
export function mayUseDriver(spec: PodSpec | undefined): boolean {
  return (spec?.volumes ?? []).some(
    ({ csi, persistentVolumeClaim, ephemeral }) => (csi ?? persistentVolumeClaim ?? ephemeral) !== undefined,
  );
}
