/**
 * Runs all preFilters of one Pod: which filters are active, with which states, and which nodes to examine. When a plugin rejects all nodes,
 * or two request disjoint ones, the cycle ends here, with upstream's message.
 */
import type { Plugin, Rejection } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import type { Profile } from "./profile.ts";

export type PreFilterResult =
  | {
      readonly is: "ready";
      /** The profile's filters that do not skip this Pod. */
      readonly filters: readonly Plugin[];
      /** In the order of `filters`. */
      readonly states: readonly unknown[];
      readonly narrowed: NarrowedNodes | undefined;
    }
  | { readonly is: "rejected"; readonly rejection: Rejection; readonly plugins: ReadonlySet<string> };

/** Only these nodes are examined. Names of missing nodes may be among them. */
export interface NarrowedNodes {
  readonly names: ReadonlySet<string>;
  /** The plugins that narrowed. */
  readonly plugins: ReadonlySet<string>;
}

export function askPreFilters(profile: Profile, pod: PodInfo, snapshot: Snapshot): PreFilterResult {
  const states = new Map<Plugin, unknown>();
  const skipped = new Set<Plugin>();
  const narrowedBy = new Set<string>();
  let names: ReadonlySet<string> | undefined;
  let refused: { readonly plugin: Plugin; readonly rejection: Rejection } | undefined;
  for (const plugin of profile.preFilter) {
    const answer = plugin.preFilter?.(pod, snapshot);
    if (answer === undefined || answer.is === "skip") {
      skipped.add(plugin);
    } else if (answer.is === "rejected") {
      refused = { plugin, rejection: answer.rejection };
      // A rejection that preemption could resolve is not final: a later plugin may report that nothing helps.
      if (!answer.rejection.resolvable) break;
    } else {
      states.set(plugin, answer.state);
      if (answer.nodes === undefined) continue;
      narrowedBy.add(plugin.name);
      names = names === undefined ? answer.nodes : common(names, answer.nodes);
      if (names.size === 0) return { is: "rejected", rejection: nothingInCommon(narrowedBy), plugins: narrowedBy };
    }
  }
  if (refused !== undefined) return rejectedBy(refused.plugin, refused.rejection, narrowedBy);
  const filters = profile.filter.filter((plugin) => !skipped.has(plugin));
  const narrowed = names === undefined ? undefined : { names, plugins: narrowedBy };
  return { is: "ready", filters, states: filters.map((plugin) => states.get(plugin)), narrowed };
}

/** Upstream's message for nodes excluded without filtering. */
export function notAmong(narrowed: NarrowedNodes): string {
  return `node(s) didn't satisfy plugin(s) ${listed(narrowed.plugins)}`;
}

function rejectedBy(plugin: Plugin, rejection: Rejection, narrowedBy: ReadonlySet<string>): PreFilterResult {
  // If nothing helps, upstream drops the narrowing plugins: only the rejecting one can change the result.
  const others = rejection.resolvable ? narrowedBy : [];
  return { is: "rejected", rejection, plugins: new Set([...others, plugin.name]) };
}

function nothingInCommon(plugins: ReadonlySet<string>): Rejection {
  const [only] = plugins;
  const who = plugins.size === 1 ? `plugin ${only}` : `plugin(s) ${listed(plugins)} simultaneously`;
  return { reasons: [`node(s) didn't satisfy ${who}`], resolvable: false };
}

function common(some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...some].filter((name) => others.has(name)));
}

/** As Go prints a list: "[A B]". */
function listed(names: ReadonlySet<string>): string {
  return `[${[...names].toSorted().join(" ")}]`;
}
