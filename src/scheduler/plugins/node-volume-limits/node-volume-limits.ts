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
type LimitState = readonly DriverVolume[] | Rejection;

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
  return volumes.length === 0 ? SKIP : { is: "ready", state: volumes };
}

function unknown(reason: string): PreFilterAnswer<LimitState> {
  return { is: "ready", state: { reasons: [reason], resolvable: false } };
}

function filterByLimits(
  volumes: readonly DriverVolume[],
  node: NodeInfo,
  storage: StorageView,
  nodeVolumes: NodeVolumes,
): Rejection | undefined {
  const csiNode = storage.csiNode(node.name);
  const limits = csiNode === undefined ? undefined : limitsOf(csiNode);
  if (limits === undefined || !volumes.some(({ driver }) => limits.has(driver))) return undefined;
  const used = nodeVolumes.of(node);
  const added = new Map<string, number>();
  for (const { id, driver } of volumes) if (!used.ids.has(id)) added.set(driver, (added.get(driver) ?? 0) + 1);
  for (const [driver, count] of added) {
    const limit = limits.get(driver);
    if (limit !== undefined && (used.attached.get(driver) ?? 0) + count > limit) return EXCEEDED;
  }
  return undefined;
}
