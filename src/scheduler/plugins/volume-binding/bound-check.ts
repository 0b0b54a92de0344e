/**
 * Whether the binder has bound everything that a Pod waits for, judged by observed objects only. Throws if the Pod must be scheduled again:
 * messages are upstream's. Pure.
 */
import { annotationOf, SELECTED_NODE } from "../../../api/core/v1/persistent-volume/binding.ts";
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { compareResourceVersions } from "../../../api/machinery/resource-version.ts";
import type { ClusterView } from "../../framework/plugin.ts";
import type { StorageView } from "../../framework/storage-view.ts";
import { isAccessibleFrom } from "../../framework/volumes/volume-affinity.ts";
import { isFullyBound } from "./pod-volumes.ts";
import { keyOf } from "./reservations.ts";

/** Objects as they were written. */
export interface WrittenVolumes {
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[];
  readonly provisions: readonly PersistentVolumeClaim[];
}

export function areBound(written: WrittenVolumes, pod: Pod, nodeName: string, cluster: ClusterView): boolean {
  const { storage } = cluster;
  const node = cluster.node(nodeName);
  if (node === undefined) throw new Error(`failed to get node ${quoted(nodeName)}: node ${quoted(nodeName)} not found`);
  const { namespace = "", name, uid } = pod.metadata;
  if (cluster.pod(namespace, name)?.metadata.uid !== uid) throw new Error(`pod does not exist any more: pod ${quoted(name)} not found`);
  return (
    written.bindings.every((binding) => isBindingDone(binding, node, storage)) &&
    written.provisions.every((claim) => isProvisioned(claim, node, storage))
  );
}

function isBindingDone({ claim, volume }: WrittenVolumes["bindings"][number], node: Node, storage: StorageView): boolean {
  const { name } = volume.metadata;
  const observed = storage.volume(name);
  if (observed === undefined) throw new Error(`failed to check binding: persistentvolume ${quoted(name)} not found`);
  const observedClaim = storage.claim(claim.metadata.namespace ?? "", claim.metadata.name);
  if (observedClaim === undefined) throw new Error(`failed to check binding: persistentvolumeclaim ${quoted(keyOf(claim))} not found`);
  if (isOlder(observed, volume)) return false;
  checkAffinity(observed, node, storage);
  if ((observed.spec?.claimRef?.uid ?? "") === "") throw new Error(`ClaimRef got reset for pv ${quoted(name)}`);
  return isFullyBound(observedClaim);
}

function isProvisioned(claim: PersistentVolumeClaim, node: Node, storage: StorageView): boolean {
  const { namespace = "", name } = claim.metadata;
  const observed = storage.claim(namespace, name);
  if (observed === undefined) throw new Error(`failed to check provisioning pvc: persistentvolumeclaim ${quoted(keyOf(claim))} not found`);
  if (isOlder(observed, claim)) return false;
  if (observed.metadata.annotations === undefined) throw new Error(`selectedNode annotation reset for PVC ${quoted(name)}`);
  // Its provisioner gave up on this node.
  if (annotationOf(observed, SELECTED_NODE) !== node.metadata.name) throw new Error(`provisioning failed for PVC ${quoted(name)}`);
  const { volumeName = "" } = observed.spec ?? {};
  if (volumeName === "") return false;
  const volume = storage.volume(volumeName);
  // Not observed yet; if it was deleted, the claim becomes Lost.
  if (volume === undefined) return false;
  checkAffinity(volume, node, storage);
  return isFullyBound(observed);
}

function checkAffinity(volume: PersistentVolume, node: Node, storage: StorageView): void {
  if (isAccessibleFrom(volume, node, (name) => storage.csiNode(name))) return;
  const [pv, on] = [quoted(volume.metadata.name), quoted(node.metadata.name)];
  throw new Error(`pv ${pv} node affinity doesn't match node ${on}: no matching NodeSelectorTerms`);
}

function isOlder({ metadata: observed }: KubeObject, { metadata: written }: KubeObject): boolean {
  return compareResourceVersions(observed.resourceVersion ?? "0", written.resourceVersion ?? "0") < 0;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
