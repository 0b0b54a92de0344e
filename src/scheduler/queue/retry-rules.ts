/**
 * When the "no" of each plugin is worth asking again, prepared for being asked often. A plugin without rules may be helped by anything,
 * and so may one that nobody knows: to try once too often costs a cycle, to wait for nothing costs minutes.
 */
import type { Logger } from "../../base/logger.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { ALL_CHANNELS, channelsOfRule, type Channels } from "../events/channels.ts";
import type { ClusterEvent, RetryRule } from "../framework/cluster-event.ts";
import type { Plugin } from "../framework/plugin.ts";
import type { WaitingPod } from "./waiting-pod.ts";

/** Stands among the plugins that refused a Pod if there was no node to ask them about: only another node helps. */
export const NO_NODES = "(no nodes)";

/** Whether and how soon a Pod is tried again. */
export type Worth = "no" | "after-backoff" | "at-once";

export interface PreparedRule {
  readonly plugin: string;
  readonly channels: Channels;
  /** Absent: always. */
  readonly isWorthIt?: (pod: Pod, event: ClusterEvent) => boolean;
}

/** What the queue needs to know of a profile. */
export interface QueueProfile {
  readonly schedulerName: string;
  /** In the order of asking. */
  readonly preEnqueue: readonly Plugin[];
  /** All plugins that may refuse a Pod. */
  readonly plugins: readonly Plugin[];
}

export class RetryRules {
  readonly #log: Logger;
  /** By the scheduler's name, then the plugin's. */
  readonly #profiles = new Map<string, ReadonlyMap<string, readonly PreparedRule[]>>();

  constructor(profiles: readonly QueueProfile[], log: Logger) {
    this.#log = log;
    for (const { schedulerName, plugins } of profiles) {
      const rules = new Map([[NO_NODES, [preparedRule(NO_NODES, { of: "node", changes: ["added"] })]]]);
      for (const plugin of plugins) rules.set(plugin.name, preparedRules(plugin));
      this.#profiles.set(schedulerName, rules);
    }
  }

  rulesOf(schedulerName: string, plugins: Iterable<string>): PreparedRule[] {
    const profile = this.#profiles.get(schedulerName);
    return [...plugins].flatMap((plugin) => profile?.get(plugin) ?? [{ plugin, channels: ALL_CHANNELS }]);
  }

  /** What an event means to a Pod that waits for these rules. */
  worthOf(rules: readonly PreparedRule[], waiting: WaitingPod, event: ClusterEvent, channels: Channels): Worth {
    let worth: Worth = "no";
    for (const rule of rules) {
      if ((rule.channels & channels) === 0) continue;
      if (!this.#isWorthIt(rule, waiting, event)) continue;
      if (waiting.pendingOn.has(rule.plugin)) return "at-once";
      if (waiting.pendingOn.size === 0) return "after-backoff";
      worth = "after-backoff";
    }
    return worth;
  }

  #isWorthIt({ plugin, isWorthIt }: PreparedRule, { info }: WaitingPod, event: ClusterEvent): boolean {
    if (isWorthIt === undefined) return true;
    try {
      return isWorthIt(info.pod, event);
    } catch (error) {
      // As upstream: a mistake of a plugin must not leave the Pod waiting.
      this.#log.error("Cannot tell whether an event helps a Pod; it is tried again", { plugin, pod: info.key, event: event.of, error });
      return true;
    }
  }
}

function preparedRules(plugin: Plugin): PreparedRule[] {
  if (plugin.retryOn === undefined) return [{ plugin: plugin.name, channels: ALL_CHANNELS }];
  return plugin.retryOn.map((rule) => preparedRule(plugin.name, rule));
}

function preparedRule(plugin: string, rule: RetryRule): PreparedRule {
  const channels = channelsOfRule(rule);
  if (rule.isWorthIt === undefined) return { plugin, channels };
  // The channels of a rule are all of one kind of event, so it is only ever asked about its own kind.
  return { plugin, channels, isWorthIt: (pod, event) => rule.isWorthIt?.(pod, event as never) ?? true };
}
