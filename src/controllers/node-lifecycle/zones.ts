/**
 * Rate limiting of evictions per zone. One lost Node is a broken machine; most of a zone lost at once is more likely a broken network, and
 * everything lost means that it is we who are disconnected. So turns are granted one Node at a time, slower or not at all the more of a
 * zone is lost, with upstream's numbers. Pure.
 */
import type { Node } from "../../api/generated/core/v1.ts";
import { isNodeReady, readyCondition, zoneOf } from "../../api/core/v1/node/health.ts";
import { isEvicting, troubleOf } from "./node-marks.ts";
import type { NodeLifecycleSettings } from "./settings.ts";

/** Nodes with this label do not count for the state of their zone. */
const EXCLUSION_LABEL = "node.kubernetes.io/exclude-disruption";

/** Two lost Nodes are never most of a zone. */
const LOST_MIN = 2;

export type ZoneState = "Normal" | "PartialDisruption" | "FullDisruption";

type ZoneSettings = Pick<
  NodeLifecycleSettings,
  "nodeEvictionRate" | "secondaryNodeEvictionRate" | "largeClusterSizeThreshold" | "unhealthyZoneThreshold"
>;

export interface ZoneCount {
  readonly ready: number;
  readonly lost: number;
}

export interface ZonePlan {
  /** Every zone is lost. */
  readonly isStopped: boolean;
  /** Nodes that may get the taint now: one per zone at most. */
  readonly grants: readonly { readonly zone: string; readonly node: string }[];
  /** When the next may, if others are waiting. */
  readonly nextMs: number | undefined;
}

export interface ZoneMemory {
  /** Time of the last granted turn per zone. */
  readonly lastGrantMs: ReadonlyMap<string, number>;
  /** Granted turns that are not used yet. */
  readonly granted: ReadonlySet<string>;
}

export function zoneState({ ready, lost }: ZoneCount, { unhealthyZoneThreshold }: Pick<ZoneSettings, "unhealthyZoneThreshold">): ZoneState {
  if (ready === 0 && lost > 0) return "FullDisruption";
  return lost > LOST_MIN && lost / (lost + ready) >= unhealthyZoneThreshold ? "PartialDisruption" : "Normal";
}

/** A zone lost as a whole, while others are not, is evicted as fast as a healthy one: there is nothing to wait for. */
export function evictionRate(state: ZoneState, { ready, lost }: ZoneCount, settings: ZoneSettings): number {
  if (state !== "PartialDisruption") return settings.nodeEvictionRate;
  return ready + lost > settings.largeClusterSizeThreshold ? settings.secondaryNodeEvictionRate : 0;
}

/** The relevant fields of a Node: zones are re-evaluated if they change. */
export function zoneFacts(node: Node): string {
  const evicting = (node.spec?.taints ?? []).filter(isEvicting).map(({ key }) => key);
  return [zoneOf(node), readyCondition(node)?.status ?? "", isExcluded(node), ...evicting].join(" ");
}

export function planZones(nodes: readonly Node[], settings: ZoneSettings, memory: ZoneMemory, nowMs: number): ZonePlan {
  const zones = new Map<string, Zone>();
  for (const node of nodes) count(node, zones, memory.granted);
  const counted = [...zones.values()].filter(({ ready, lost }) => ready + lost > 0);
  const isStopped = counted.length > 0 && counted.every((zone) => zoneState(zone, settings) === "FullDisruption");
  if (isStopped) return { isStopped, grants: [], nextMs: undefined };

  const grants: { readonly zone: string; readonly node: string }[] = [];
  let nextMs: number | undefined;
  for (const [name, zone] of zones) {
    const rate = evictionRate(zoneState(zone, settings), zone, settings);
    if (zone.longestLost === undefined || rate <= 0) continue;
    const intervalMs = 1_000 / rate;
    const dueMs = (memory.lastGrantMs.get(name) ?? -Infinity) + intervalMs;
    if (dueMs <= nowMs) grants.push({ zone: name, node: zone.longestLost.metadata.name });
    const nextOfZoneMs = dueMs > nowMs ? dueMs : zone.waiting > 1 ? nowMs + intervalMs : undefined;
    if (nextOfZoneMs !== undefined) nextMs = Math.min(nextMs ?? Infinity, nextOfZoneMs);
  }
  return { isStopped, grants, nextMs };
}

interface Zone {
  ready: number;
  lost: number;
  /** Unhealthy Nodes without a NoExecute taint and without a turn. */
  waiting: number;
  /** Of those. */
  longestLost: Node | undefined;
}

function count(node: Node, zones: Map<string, Zone>, granted: ReadonlySet<string>): void {
  const name = zoneOf(node);
  const zone = zones.get(name) ?? { ready: 0, lost: 0, waiting: 0, longestLost: undefined };
  zones.set(name, zone);
  if (!isExcluded(node)) zone[isNodeReady(node) ? "ready" : "lost"]++;
  const isWaiting = troubleOf(node) !== undefined && !(node.spec?.taints ?? []).some(isEvicting) && !granted.has(node.metadata.name);
  if (!isWaiting) return;
  zone.waiting++;
  if (zone.longestLost === undefined || lostSince(node) < lostSince(zone.longestLost)) zone.longestLost = node;
}

function isExcluded({ metadata }: Node): boolean {
  return Object.hasOwn(metadata.labels ?? {}, EXCLUSION_LABEL);
}

/** Timestamps are stored in UTC and in one format, so that they sort as text. */
function lostSince(node: Node): string {
  return readyCondition(node)?.lastTransitionTime ?? "";
}
