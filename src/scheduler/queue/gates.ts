/** Runs preEnqueue: which plugin gates a Pod. */
import type { Logger } from "../../base/logger.ts";
import type { Plugin } from "../framework/plugin.ts";
import type { QueueProfile } from "./retry-rules.ts";
import type { WaitingPod } from "./waiting-pod.ts";

export class Gates {
  readonly #log: Logger;
  /** By scheduler name, in call order. */
  readonly #plugins: ReadonlyMap<string, readonly Plugin[]>;

  constructor(profiles: readonly QueueProfile[], log: Logger) {
    this.#log = log;
    this.#plugins = new Map(profiles.map(({ schedulerName, preEnqueue }) => [schedulerName, preEnqueue]));
  }

  /** The gating plugin, if any. The previous one is called first, since it most likely still gates. */
  gateOf(pod: WaitingPod): string | undefined {
    const plugins = this.#plugins.get(pod.schedulerName) ?? [];
    const before = plugins.find(({ name }) => name === pod.gatedBy);
    if (before !== undefined && this.#isRefusedBy(before, pod)) return before.name;
    return plugins.find((plugin) => plugin !== before && this.#isRefusedBy(plugin, pod))?.name;
  }

  #isRefusedBy(plugin: Plugin, { info }: WaitingPod): boolean {
    try {
      return plugin.preEnqueue?.(info.pod) !== undefined;
    } catch (error) {
      // As upstream: a throwing plugin gates.
      this.#log.error("preEnqueue failed; the Pod stays gated", { plugin: plugin.name, pod: info.key, error });
      return true;
    }
  }
}
