/** What Pods take of the node's disks, as whoever can look there tells it. What is not known is left out. Only types. */
import type { Pod } from "../../api/generated/core/v1.ts";

export interface FilesystemNumbers {
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
}

/** Of a file, or of a directory with all in it. */
export interface TreeUsage {
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

export interface VolumeNumbers {
  readonly name: string;
  /** It counts as the Pod's own storage: what is on the node's disk and goes with the Pod. */
  readonly isEphemeral: boolean;
  /** What it is on. */
  readonly filesystem: FilesystemNumbers;
  /** Absent: there is too much in it to be counted. */
  readonly used?: TreeUsage;
}

export interface PodStorage {
  readonly volumes: readonly VolumeNumbers[];
  /** By the name of the container, of all its attempts that are kept. */
  readonly logs: ReadonlyMap<string, TreeUsage>;
  /** What containers see as /etc/hosts. */
  readonly hostsFile?: TreeUsage;
}

export type PodStorageSource = (pod: Pod) => Promise<PodStorage>;
