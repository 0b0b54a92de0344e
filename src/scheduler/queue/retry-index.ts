/**
 * Waiting Pods grouped by their rejecting plugins. Ten thousand Pods are usually rejected by the same few plugins, so there are few groups,
 * and an irrelevant event costs next to nothing however many Pods wait. That matters: every binding is an event.
 */
import { channelsOfEvent, type Channels } from "../events/channels.ts";
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { PreparedRule, RetryRules, Worth } from "./retry-rules.ts";
import type { WaitingPod } from "./waiting-pod.ts";

interface Group {
  readonly key: string;
  readonly rules: readonly PreparedRule[];
  /** Events that can help the members at all. */
  readonly channels: Channels;
  readonly members: Set<WaitingPod>;
}

export interface Woken {
  readonly pod: WaitingPod;
  readonly worth: Exclude<Worth, "no">;
}

export class RetryIndex {
  readonly #rules: RetryRules;
  /** None is empty. */
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<WaitingPod, Group>();

  constructor(rules: RetryRules) {
    this.#rules = rules;
  }

  /** The Pod waits for any of these plugins. */
  add(pod: WaitingPod, plugins: readonly string[]): void {
    const key = JSON.stringify([pod.schedulerName, plugins.toSorted()]);
    this.#join(pod, this.#groups.get(key) ?? this.#newGroup(key, pod.schedulerName, { refusers: plugins, decisive: plugins }));
  }

  /** The Pod is gated by a plugin: only events of that plugin's rules can help, if it or any that rejected the Pod before says so. */
  addGated(pod: WaitingPod, gate: string, plugins: readonly string[]): void {
    const key = JSON.stringify([pod.schedulerName, plugins.toSorted(), gate]);
    const refusers = [...new Set([gate, ...plugins])];
    this.#join(pod, this.#groups.get(key) ?? this.#newGroup(key, pod.schedulerName, { refusers, decisive: [gate] }));
  }

  delete(pod: WaitingPod): void {
    const group = this.#groupOf.get(pod);
    if (group === undefined) return;
    this.#groupOf.delete(pod);
    group.members.delete(pod);
    if (group.members.size === 0) this.#groups.delete(group.key);
  }

  /** The Pods that an event may help. They stay in the index until they are moved. */
  wokenBy(event: ClusterEvent, only?: (info: PodInfo) => boolean): Woken[] {
    const channels = channelsOfEvent(event);
    const woken: Woken[] = [];
    for (const group of this.#groups.values()) {
      if ((group.channels & channels) === 0) continue;
      const rules = group.rules.filter((rule) => (rule.channels & channels) !== 0);
      for (const pod of group.members) {
        if (only !== undefined && !only(pod.info)) continue;
        const worth = this.#rules.worthOf(rules, pod, event, channels);
        if (worth !== "no") woken.push({ pod, worth });
      }
    }
    return woken;
  }

  #join(pod: WaitingPod, group: Group): void {
    group.members.add(pod);
    this.#groupOf.set(pod, group);
  }

  /** Its members are helped only by events of the `decisive` rules. */
  #newGroup(
    key: string,
    schedulerName: string,
    plugins: { readonly refusers: readonly string[]; readonly decisive: readonly string[] },
  ): Group {
    const rules = this.#rules.rulesOf(schedulerName, plugins.refusers);
    const channels = this.#rules.rulesOf(schedulerName, plugins.decisive).reduce((all, rule) => all | rule.channels, 0);
    const group = { key, rules, channels, members: new Set<WaitingPod>() };
    this.#groups.set(key, group);
    return group;
  }
}
