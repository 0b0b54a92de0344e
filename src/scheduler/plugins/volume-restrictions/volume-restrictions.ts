/**
 * VolumeRestrictions: a claim with access mode ReadWriteOncePod is used by one Pod of the cluster, and some in-tree volumes by one Pod of
 * a node, unless all use them read-only. Removing the other Pod helps, so that preemption may. Upstream behaviour: kube-scheduler plugin
 * "VolumeRestrictions".
 */
import type { PersistentVolumeClaim, Pod } from "../../../api/generated/core/v1.ts";
import type { Plugin, PluginFactory, PreFilterAnswer, Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { Snapshot } from "../../framework/snapshot.ts";
import type { StorageView } from "../../framework/storage-view.ts";
import { claimNotFound } from "../../framework/volumes/pod-claims.ts";
import { conflictsWith, singleAttachVolumes, type SingleAttachVolume } from "./single-attach.ts";

const NAME = "VolumeRestrictions";
const SKIP = { is: "skip" } as const;
const DISK_CONFLICT: Rejection = { reasons: ["node(s) had no available disk"], resolvable: true };
const CLAIM_IN_USE: Rejection = {
  reasons: ["node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"],
  resolvable: true,
};

interface RestrictionState {
  /** The Pod's claims with ReadWriteOncePod, "namespace/name". */
  readonly exclusiveClaims: ReadonlySet<string>;
  /** Uses of them by Pods on nodes. */
  uses: number;
  readonly disks: readonly SingleAttachVolume[];
}

export const volumeRestrictions: PluginFactory<undefined> = {
  name: NAME,
  make: ({ cluster: { storage } }): Plugin<RestrictionState> => ({
    name: NAME,
    retryOn: [
      { of: "assigned-pod", changes: ["deleted"], isWorthIt: (pod, { pod: deleted }) => mayRelease(pod, deleted) },
      { of: "node", changes: ["added"] },
      { of: "object", kind: "PersistentVolumeClaim", changes: ["added"], isWorthIt: (pod, { object }) => names(pod, object) },
    ],
    preFilter: (pod, snapshot) => preFilter(pod, snapshot, storage),
    filter({ disks, uses }, _pod, node) {
      if (disks.length > 0 && node.pods.some(({ pod }) => conflictsWith(disks, pod))) return DISK_CONFLICT;
      return uses > 0 ? CLAIM_IN_USE : undefined;
    },
    copyState: (state) => ({ ...state }),
    podAdded: (state, _pod, added) => void (state.uses += usesBy(state, added)),
    podRemoved: (state, _pod, removed) => void (state.uses -= usesBy(state, removed)),
  }),
};

function preFilter({ pod, namespace }: PodInfo, snapshot: Snapshot, storage: StorageView): PreFilterAnswer<RestrictionState> {
  const exclusiveClaims = new Set<string>();
  for (const name of claimNames(pod)) {
    const claim = storage.claim(namespace, name);
    if (claim === undefined) return { is: "rejected", rejection: { reasons: [claimNotFound(name)], resolvable: false } };
    if (claim.spec?.accessModes?.includes("ReadWriteOncePod") === true) exclusiveClaims.add(`${namespace}/${name}`);
  }
  let uses = 0;
  for (const key of exclusiveClaims) uses += snapshot.claimUses(key);
  const disks = singleAttachVolumes(pod);
  return uses === 0 && disks.length === 0 ? SKIP : { is: "ready", state: { exclusiveClaims, uses, disks } };
}

function usesBy({ exclusiveClaims }: RestrictionState, { claimKeys }: PodInfo): number {
  if (exclusiveClaims.size === 0) return 0;
  return claimKeys.filter((key) => exclusiveClaims.has(key)).length;
}

/** Whether the deleted Pod used a volume of the waiting one. */
function mayRelease(waiting: Pod, deleted: Pod): boolean {
  if (waiting.metadata.namespace !== deleted.metadata.namespace) return false;
  if (conflictsWith(singleAttachVolumes(waiting), deleted)) return true;
  const wanted = claimNames(waiting);
  return claimNames(deleted).some((name) => wanted.includes(name));
}

function names(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return pod.metadata.namespace === metadata.namespace && claimNames(pod).includes(metadata.name);
}

const NONE: readonly never[] = [];

/** Claims of ephemeral volumes belong to one Pod. */
function claimNames({ spec }: Pod): readonly string[] {
  const volumes = spec?.volumes;
  if (volumes === undefined) return NONE;
  return volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? NONE);
}
