/** Which plugin keeps a Pod out of the queue, by its preEnqueue. */
import type { Logger } from "../../base/logger.ts";
import type { Plugin } from "../framework/plugin.ts";
import type { QueueProfile } from "./retry-rules.ts";
import type { WaitingPod } from "./waiting-pod.ts";

export class Gates {
  readonly #log: Logger;
  /** By the scheduler's name, in the order of asking. */
  readonly #plugins: ReadonlyMap<string, readonly Plugin[]>;

  constructor(profiles: readonly QueueProfile[], log: Logger) {
    this.#log = log;
    this.#plugins = new Map(profiles.map(({ schedulerName, preEnqueue }) => [schedulerName, preEnqueue]));
  }

  /** The name of the plugin, if any refuses. That which refused before is asked first, since it most likely still does. */
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
      // As upstream: whoever cannot answer has not let it in.
      this.#log.error("Cannot tell whether a Pod may enter the queue; it waits outside", { plugin: plugin.name, pod: info.key, error });
      return true;
    }
  }
}
