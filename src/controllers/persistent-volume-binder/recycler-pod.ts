/** The Pod that empties a volume before it is bound again, and what its state means. Pure. Not here: creating and deleting it (recyclers.ts). */
import { volumeBytes } from "../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, Pod, Volume } from "../../api/generated/core/v1.ts";
import type { Draft, ObjectKey } from "../../client/client.ts";

const NAMESPACE = "default";
const NAME_PREFIX = "recycler-for-";
/** Any image with a shell and `find`. Upstream's is a Debian base image of its own build. */
const IMAGE = "busybox:1";
const MOUNT_PATH = "/scrub";
/** Not with `-delete`, which some builds of busybox lack. */
const SCRUB = `test -e ${MOUNT_PATH} && find ${MOUNT_PATH} -mindepth 1 -maxdepth 1 -exec rm -rf -- {} + && test -z "$(ls -A ${MOUNT_PATH})" || exit 1`;

const GIBIBYTE = 1024n ** 3n;
/** Upstream's defaults: deadline per gibibyte of capacity, and the least one. */
const SECONDS_PER_GIBIBYTE = 30n;
const HOST_PATH_SECONDS_MIN = 60n;
const NFS_SECONDS_MIN = 300n;

/** Undefined for kinds of volumes that upstream cannot recycle either. */
export function recyclerPod(volume: PersistentVolume): Draft<Pod> | undefined {
  const { hostPath, nfs } = volume.spec ?? {};
  if (hostPath !== undefined) return podFor(volume, { name: "vol", hostPath: { path: hostPath.path } }, HOST_PATH_SECONDS_MIN);
  if (nfs !== undefined) return podFor(volume, { name: "vol", nfs: { server: nfs.server, path: nfs.path } }, NFS_SECONDS_MIN);
  return undefined;
}

function podFor(volume: PersistentVolume, source: Volume, secondsMin: bigint): Draft<Pod> {
  const seconds = (volumeBytes(volume) / GIBIBYTE) * SECONDS_PER_GIBIBYTE;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...recyclerKey(volume.metadata.name) },
    spec: {
      activeDeadlineSeconds: Number(seconds < secondsMin ? secondsMin : seconds),
      restartPolicy: "Never",
      volumes: [source],
      containers: [
        {
          name: "pv-recycler",
          image: IMAGE,
          command: ["/bin/sh"],
          args: ["-c", SCRUB],
          volumeMounts: [{ name: source.name, mountPath: MOUNT_PATH }],
        },
      ],
    },
  };
}

export function recyclerKey(volumeName: string): ObjectKey & { readonly namespace: string } {
  return { namespace: NAMESPACE, name: NAME_PREFIX + volumeName };
}

/** The volume that a Pod of this name recycles; undefined for other Pods. */
export function recycledVolume({ namespace, name }: ObjectKey): string | undefined {
  return namespace === NAMESPACE && name.startsWith(NAME_PREFIX) ? name.slice(NAME_PREFIX.length) : undefined;
}

export type RecyclerState =
  | { readonly is: "missing" | "running" | "succeeded" }
  /** Deleted, and still there. */
  | { readonly is: "terminating" }
  /** Of an earlier process, or forged to skip the deletion of the data: it proves nothing. */
  | { readonly is: "unknown" }
  | { readonly is: "failed"; readonly reason: string };

/** `startedUid`: of the Pod that this process created; undefined if it has created none. */
export function recyclerState(pod: Pod | undefined, startedUid: string | undefined): RecyclerState {
  if (startedUid === undefined) {
    if (pod === undefined) return { is: "missing" };
    return { is: pod.metadata.deletionTimestamp === undefined ? "unknown" : "terminating" };
  }
  if (pod?.metadata.uid !== startedUid) return { is: "failed", reason: "recycler pod was deleted" };
  const { phase, message = "" } = pod.status ?? {};
  if (phase === "Succeeded") return { is: "succeeded" };
  if (phase === "Failed") return { is: "failed", reason: message === "" ? "pod failed, pod.Status.Message unknown" : message };
  return { is: "running" };
}
