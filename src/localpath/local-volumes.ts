/**
 * Contract of the storage of a node: what holds the content of volumes. Types only, and the error of a refused request. A volume is
 * identified by the name of its PersistentVolume. Every method is idempotent, since the process may die between any two calls; the caller
 * never works on one volume twice at a time.
 */

export type VolumeStorage =
  /** A directory of the node's file system: no limit of its own. */
  | { readonly is: "directory" }
  /** A block device of a fixed size, backed by a file. `fsType`: of the file system that the kubelet creates on it. */
  | { readonly is: "image"; readonly sizeBytes: number; readonly fsType?: FileSystemType };

export type FileSystemType = "ext4" | "xfs";

export interface LocalVolumes {
  /**
   * Volumes that were created and have not been confirmed since, also by an earlier process: no PersistentVolume may exist for them. Until
   * then they hold no data.
   */
  readonly unconfirmed: ReadonlySet<string>;
  /** The path of a volume for the kubelet, known before it exists. */
  path(name: string, storage: VolumeStorage["is"]): string;
  /** Creates an empty volume unless it exists. Rejects with RefusedVolumeError if this node cannot hold it. */
  create(name: string, storage: VolumeStorage): Promise<void>;
  /** Called when the PersistentVolume exists: from now on the volume is kept until `delete`. */
  confirm(name: string): Promise<void>;
  /** Makes an existing volume usable again, after a reboot for instance. */
  attach(name: string): Promise<void>;
  /** Makes an image at least this large, while it is used. Rejects with RefusedVolumeError if this node cannot hold it. */
  grow(name: string, sizeBytes: number): Promise<void>;
  /** Removes the volume and its content. A volume that does not exist is fine. */
  delete(name: string): Promise<void>;
}

/** The request cannot be served by this node as it is. */
export class RefusedVolumeError extends Error {
  override readonly name = "RefusedVolumeError";
}
