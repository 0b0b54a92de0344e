/** Arguments of the steps of local-path-controller.ts. Types only. */
import type { PersistentVolume, PersistentVolumeClaim } from "../api/generated/core/v1.ts";
import type { Pass } from "../controllers/runtime/controller.ts";
import type { LocalVolumes, VolumeStorage } from "./local-volumes.ts";

export interface LocalPathOptions {
  readonly volumes: LocalVolumes;
  /** Whether `volumes` is the storage of this node. */
  isOwnNode(nodeName: string): boolean;
  /** True for one provisioner of the cluster: it refuses claims that no node was selected for. */
  readonly refusesUnplaced: boolean;
}

/** One pass over one volume. */
export interface VolumePass extends LocalPathOptions {
  readonly pass: Pass;
}

export interface OwnVolume {
  readonly volume: PersistentVolume;
  /** Undefined: its path is not one of this provisioner. */
  readonly storage: VolumeStorage["is"] | undefined;
  /** The claim of the name that the volume refers to. */
  readonly claim: PersistentVolumeClaim | undefined;
}
