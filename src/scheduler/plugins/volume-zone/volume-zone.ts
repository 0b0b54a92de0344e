/**
 * VolumeZone: a volume with labels of a zone or region is used on nodes with the same labels only. A label may name several values,
 * "a__b". Nodes without any such label are feasible: the cluster has one zone. Upstream behaviour: kube-scheduler plugin "VolumeZone".
 */
import { REGION_LABEL, REGION_LABEL_BETA, ZONE_LABEL, ZONE_LABEL_BETA } from "../../../api/core/v1/node/zone-labels.ts";
import { claimClass } from "../../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../../api/generated/core/v1.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin, PluginFactory, PreFilterAnswer, Rejection } from "../../framework/plugin.ts";
import type { StorageView } from "../../framework/storage-view.ts";
import { claimNotFound } from "../../framework/volumes/pod-claims.ts";

const NAME = "VolumeZone";
const SKIP = { is: "skip" } as const;
const CONFLICT: Rejection = { reasons: ["node(s) had no available volume zone"], resolvable: false };

/** In upstream's order. */
const TOPOLOGY_LABELS = [ZONE_LABEL_BETA, REGION_LABEL_BETA, ZONE_LABEL, REGION_LABEL];
/** Nodes may have only the newer label. */
const NEWER: Readonly<Record<string, string>> = { [ZONE_LABEL_BETA]: ZONE_LABEL, [REGION_LABEL_BETA]: REGION_LABEL };

/** A label of a volume, and the values that a node may have for it. */
interface Topology {
  readonly key: string;
  readonly values: readonly string[];
}

export const volumeZone: PluginFactory<undefined> = {
  name: NAME,
  make: ({ cluster: { storage } }): Plugin<readonly Topology[]> => ({
    name: NAME,
    retryOn: [
      {
        of: "object",
        kind: "StorageClass",
        changes: ["added"],
        isWorthIt: (_pod, { object }) => object.volumeBindingMode === "WaitForFirstConsumer",
      },
      { of: "node", changes: ["added", "labels"] },
      { of: "object", kind: "PersistentVolumeClaim", changes: ["added", "updated"], isWorthIt: (pod, { object }) => names(pod, object) },
      {
        of: "object",
        kind: "PersistentVolume",
        changes: ["added", "updated"],
        isWorthIt: (_pod, { object, previous }) => previous === undefined || !deepEqual(topologiesOf(object), topologiesOf(previous)),
      },
    ],
    preFilter: ({ pod }) => preFilter(pod, storage),
    filter: (topologies, _pod, node) => (suits(topologies, node) ? undefined : CONFLICT),
  }),
};

function preFilter(pod: Pod, storage: StorageView): PreFilterAnswer<readonly Topology[]> {
  const topologies: Topology[] = [];
  for (const name of claimNames(pod)) {
    const found = topologiesOfClaim(pod.metadata.namespace ?? "", name, storage);
    if (typeof found === "string") return { is: "rejected", rejection: { reasons: [found], resolvable: false } };
    topologies.push(...found);
  }
  return topologies.length === 0 ? SKIP : { is: "ready", state: topologies };
}

const NONE: readonly never[] = [];

/** Of the claim's volume, or why that is unknown. */
function topologiesOfClaim(namespace: string, name: string, storage: StorageView): readonly Topology[] | string {
  if (name === "") return "PersistentVolumeClaim had no name";
  const claim = storage.claim(namespace, name);
  if (claim === undefined) return claimNotFound(name);
  const { volumeName = "" } = claim.spec ?? {};
  if (volumeName === "") return problemOfUnbound(claim, storage) ?? NONE;
  const volume = storage.volume(volumeName);
  return volume === undefined ? `persistentvolume ${JSON.stringify(volumeName)} not found` : topologiesOf(volume);
}

/** Undefined: its volume is chosen with the node. */
function problemOfUnbound(claim: PersistentVolumeClaim, storage: StorageView): string | undefined {
  const className = claimClass(claim);
  if (className === "") return "PersistentVolumeClaim had no pv name and storageClass name";
  const storageClass = storage.storageClass(className);
  if (storageClass === undefined) return `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`;
  const { volumeBindingMode } = storageClass;
  if (volumeBindingMode === undefined) return `VolumeBindingMode not set for StorageClass ${JSON.stringify(className)}`;
  return volumeBindingMode === "WaitForFirstConsumer" ? undefined : "PersistentVolume had no name";
}

/** Labels that name no zone are ignored. */
function topologiesOf({ metadata: { labels = {} } }: PersistentVolume): readonly Topology[] {
  return TOPOLOGY_LABELS.flatMap((key) => {
    const values = labels[key]?.split("__").map((value) => value.trim()) ?? [];
    return values.length === 0 || values.includes("") ? [] : [{ key, values }];
  });
}

function suits(topologies: readonly Topology[], { labels }: NodeInfo): boolean {
  if (!TOPOLOGY_LABELS.some((key) => labels[key] !== undefined)) return true;
  return topologies.every(({ key, values }) => {
    const value = labels[key] ?? labels[NEWER[key] ?? key];
    return value !== undefined && values.includes(value);
  });
}

/** Claims of ephemeral volumes are not considered, as upstream. */
function claimNames({ spec }: Pod): readonly string[] {
  return (spec?.volumes ?? NONE).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? NONE);
}

function names(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return pod.metadata.namespace === metadata.namespace && claimNames(pod).includes(metadata.name);
}
