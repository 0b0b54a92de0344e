/** What the CRI driver and the import of images both know of containerd's snapshots. Field numbers are those of its published API. */
import type { MessageDescriptor } from "../../base/protobuf/messages.ts";

const mount = {
  name: "Mount",
  fields: {
    type: { number: 1, type: "string" },
    source: { number: 2, type: "string" },
    options: { number: 4, type: "string", repeated: true },
  },
} as const satisfies MessageDescriptor;

/** How a snapshot is mounted. */
export const snapshotMountsField = { number: 1, type: mount, repeated: true } as const;

export const snapshotKeyFields = { snapshotter: { number: 1, type: "string" }, key: { number: 2, type: "string" } } as const;

/** "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs" */
const SNAPSHOTTER = /\.snapshotter\.v1\.([a-z0-9-]+)$/;

/** Name of the snapshotter of the CRI's images, by the mount point that ImageFsInfo reports. */
export function snapshotterAt(mountPoint: string): string | undefined {
  return SNAPSHOTTER.exec(mountPoint)?.[1];
}
