/**
 * Names that the local-path provisioner (localpath/) shares with users and other components, and its permissions. On a node it has the
 * node's identity: what that may write is further restricted by admission (NodeRestriction).
 */
import type { PolicyRule } from "./generated/rbac.authorization.k8s.io/v1.ts";

export const LOCAL_PATH_PROVISIONER = "k8ts.dev/local-path";

/** Holds a PersistentVolume until the files of the volume are removed from its node, or its reclaim policy keeps them. */
export const LOCAL_PATH_FINALIZER = "k8ts.dev/local-path";

/** Set by the PersistentVolume binder on claims that wait for a provisioner; the second is the older name. */
export const STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner";
export const STORAGE_PROVISIONER_BETA = "volume.beta.kubernetes.io/storage-provisioner";

/** Set by the scheduler: the node of the first Pod that uses the claim. */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";

/** Set by provisioners on their volumes. */
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";

/** Set on a volume: the name of the node that has its files. */
export const NODE_ANNOTATION = "k8ts.dev/local-path-node";

export const HOSTNAME_LABEL = "kubernetes.io/hostname";

/** Upstream's provisioners name a volume after the uid of its claim, so that a repeated attempt finds it. */
export function volumeNameOf(claimUid: string): string {
  return `pvc-${claimUid}`;
}

const UID_PATTERN = /^pvc-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The claim's uid of a volume that a provisioner named. Undefined: another name, which never becomes part of a path. */
export function claimUidOf(volumeName: string): string | undefined {
  return UID_PATTERN.exec(volumeName)?.[1];
}

const READ = ["get", "list", "watch"];

export const LOCAL_PATH_RULES: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["persistentvolumes"], verbs: [...READ, "create", "update", "patch", "delete"] },
  { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: [...READ, "patch"] },
  { apiGroups: [""], resources: ["persistentvolumeclaims/status"], verbs: ["update"] },
  { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
  { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: READ },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "update", "patch"] },
];
