/**
 * NodeVolumeLimits: a node attaches at most as many volumes of a CSI driver as its CSINode says (`allocatable.count`). Volumes of Pods on
 * the node count once each, as do attachments that remain from earlier ones. Upstream behaviour: kube-scheduler plugin "NodeVolumeLimits".
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin, PluginFactory, PreFilterAnswer, Rejection } from "../../framework/plugin.ts";
import type { StorageView } from "../../framework/storage-view.ts";
import { claimNotFound, claimUses, foreignClaim } from "../../framework/volumes/pod-claims.ts";
import { migratedInlineVolume } from "../../framework/volumes/migration.ts";
import { driverVolumes, NodeVolumes, type DriverVolume } from "./driver-volumes.ts";
import { volumeLimitsRetryRules } from "./hints.ts";
import { limitsOf } from "./limits.ts";

const NAME = "NodeVolumeLimits";
const SKIP = { is: "skip" } as const;
const EXCEEDED: Rejection = { reasons: ["node(s) exceed max volume count"], resolvable: true };

export const nodeVolumeLimits: PluginFactory<undefined> = {
  name: NAME,
  make: ({ cluster: { storage } }): Plugin<LimitState> => {
    const nodeVolumes = new NodeVolumes(storage);
    storage.onClaimChange(() => nodeVolumes.forget());
    return {
      name: NAME,
      retryOn: volumeLimitsRetryRules,
      preFilter: ({ pod }) => preFilter(pod, storage),
      filter: (state, _pod, node) => ("reasons" in state ? state : filterByLimits(state, node, storage, nodeVolumes)),
    };
  },
};

/** The volumes of the Pod, or why they cannot be counted. VolumeBinding, which is asked later, explains that better: so filter reports it. */
type LimitState = readonly VolumesOfDriver[] | Rejection;

function preFilter(pod: Pod, storage: StorageView): PreFilterAnswer<LimitState> {
  const uses = claimUses(pod);
  const hasInline = pod.spec?.volumes?.some((volume) => migratedInlineVolume(volume) !== undefined) === true;
  if (uses.length === 0 && !hasInline) return SKIP;
  const { namespace = "" } = pod.metadata;
  for (const { name, isEphemeral } of uses) {
    const claim = storage.claim(namespace, name);
    if (claim === undefined) return unknown(`looking up PVC ${namespace}/${name}: ${claimNotFound(name)}`);
    const problem = isEphemeral ? foreignClaim(pod, claim) : undefined;
    if (problem !== undefined) return unknown(problem);
  }
  const volumes = driverVolumes(pod, storage);
  return volumes.length === 0 ? SKIP : { is: "ready", state: byDriver(volumes) };
}

function unknown(reason: string): PreFilterAnswer<LimitState> {
  return { is: "ready", state: { reasons: [reason], resolvable: false } };
}

/** The Pod's volumes of one driver. */
interface VolumesOfDriver {
  readonly driver: string;
  readonly ids: readonly string[];
}

function byDriver(volumes: readonly DriverVolume[]): readonly VolumesOfDriver[] {
  const drivers = [...new Set(volumes.map(({ driver }) => driver))];
  return drivers.map((driver) => ({ driver, ids: volumes.filter((volume) => volume.driver === driver).map(({ id }) => id) }));
}

function filterByLimits(
  volumes: readonly VolumesOfDriver[],
  node: NodeInfo,
  storage: StorageView,
  nodeVolumes: NodeVolumes,
): Rejection | undefined {
  const csiNode = storage.csiNode(node.name);
  const limits = csiNode === undefined ? undefined : limitsOf(csiNode);
  if (limits === undefined) return undefined;
  for (const { driver, ids } of volumes) {
    const limit = limits.get(driver);
    if (limit === undefined) continue;
    const used = nodeVolumes.of(node);
    const left = limit - (used.attached.get(driver) ?? 0);
    // Hot path (called per node): most nodes have room for all, whatever they have already.
    if (ids.length > left && newOnes(ids, used.ids) > left) return EXCEEDED;
  }
  return undefined;
}

/** None of a Pod is always allowed: its volumes are there already. */
function newOnes(ids: readonly string[], existing: ReadonlySet<string>): number {
  let count = 0;
  for (const id of ids) if (!existing.has(id)) count++;
  return count === 0 ? Number.NEGATIVE_INFINITY : count;
}
