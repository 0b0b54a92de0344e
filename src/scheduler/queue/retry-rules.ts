/**
 * The retry rules of each plugin, prepared for frequent evaluation. A plugin without rules may be helped by any event, and so may an
 * unknown one: a superfluous retry costs a cycle, a missed one costs minutes.
 */
import type { Logger } from "../../base/logger.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { ALL_CHANNELS, channelsOfRule, isOfSameKind, type Channels } from "../events/channels.ts";
import type { ClusterEvent, RetryRule } from "../framework/cluster-event.ts";
import type { Plugin } from "../framework/plugin.ts";
import type { WaitingPod } from "./waiting-pod.ts";

/** Pseudo-plugin for Pods rejected because there were no nodes: only a node helps. */
export const NO_NODES = "(no nodes)";

/** Whether and how soon a Pod is retried. */
export type Worth = "no" | "after-backoff" | "at-once";

export interface PreparedRule {
  readonly plugin: string;
  readonly channels: Channels;
  /** Absent: always. */
  readonly isWorthIt?: (pod: Pod, event: ClusterEvent) => boolean;
}

/** What the queue needs of a profile. */
export interface QueueProfile {
  readonly schedulerName: string;
  /** In call order. */
  readonly preEnqueue: readonly Plugin[];
  /** All plugins that may reject a Pod. */
  readonly plugins: readonly Plugin[];
}

export class RetryRules {
  readonly #log: Logger;
  /** By scheduler name, then plugin name. */
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

  /** The effect of an event on a Pod that waits for these rules. */
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
      // As upstream: a plugin's error must not leave the Pod waiting.
      this.#log.error("Queueing hint failed; the Pod is retried", { plugin, pod: info.key, event: event.of, error });
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
  if (rule.isWorthIt === undefined && rule.of !== "object") return { plugin, channels };
  // Only objects of other kinds share channels; otherwise the channels of a rule are all of one event kind.
  return { plugin, channels, isWorthIt: (pod, event) => isOfSameKind(rule, event) && (rule.isWorthIt?.(pod, event as never) ?? true) };
}
