/**
 * Messages of containerd's own services, on the same socket as the CRI, that an image import needs: content store, leases, image list, snapshots
 * and diffs.
 * And of the CRI: image status, and the sandbox calls that reveal a missing sandbox image. Field numbers are those of containerd's
 * published API, which has been stable since 1.0.
 */
import type { MessageDescriptor } from "../../../base/protobuf/messages.ts";
import { snapshotKeyFields, snapshotMountsField } from "../../shared/snapshots.ts";

const LABEL = {
  name: "Label",
  fields: { key: { number: 1, type: "string" }, value: { number: 2, type: "string" } },
} as const satisfies MessageDescriptor;

const FIELD_MASK = {
  name: "FieldMask",
  fields: { paths: { number: 1, type: "string", repeated: true } },
} as const satisfies MessageDescriptor;

export const LEASES = "/containerd.services.leases.v1.Leases";
export const CONTENT = "/containerd.services.content.v1.Content";
export const IMAGES = "/containerd.services.images.v1.Images";
export const SNAPSHOTS = "/containerd.services.snapshots.v1.Snapshots";
export const DIFF = "/containerd.services.diff.v1.Diff";
export const CRI_IMAGES = "/runtime.v1.ImageService";
export const CRI_RUNTIME = "/runtime.v1.RuntimeService";

export const LEASE_CREATE = {
  name: "leases.CreateRequest",
  fields: { id: { number: 1, type: "string" }, labels: { number: 3, type: LABEL, repeated: true } },
} as const satisfies MessageDescriptor;

export const LEASE_DELETE = {
  name: "leases.DeleteRequest",
  fields: { id: { number: 1, type: "string" } },
} as const satisfies MessageDescriptor;

export const WRITE_ACTION = { stat: 0, write: 1, commit: 2 } as const;

export const WRITE_REQUEST = {
  name: "content.WriteContentRequest",
  fields: {
    action: { number: 1, type: "int32" },
    ref: { number: 2, type: "string" },
    total: { number: 3, type: "int64" },
    expected: { number: 4, type: "string" },
    offset: { number: 5, type: "int64" },
    data: { number: 6, type: "bytes" },
    labels: { number: 7, type: LABEL, repeated: true },
  },
} as const satisfies MessageDescriptor;

export const WRITE_RESPONSE = {
  name: "content.WriteContentResponse",
  fields: { offset: { number: 4, type: "int64" } },
} as const satisfies MessageDescriptor;

export const CONTENT_UPDATE = {
  name: "content.UpdateRequest",
  fields: {
    info: {
      number: 1,
      type: { name: "content.Info", fields: { digest: { number: 1, type: "string" }, labels: { number: 5, type: LABEL, repeated: true } } },
    },
    updateMask: { number: 2, type: FIELD_MASK },
  },
} as const satisfies MessageDescriptor;

const DESCRIPTOR = {
  name: "types.Descriptor",
  fields: { mediaType: { number: 1, type: "string" }, digest: { number: 2, type: "string" }, size: { number: 3, type: "int64" } },
} as const satisfies MessageDescriptor;

const IMAGE = {
  name: "images.Image",
  fields: {
    name: { number: 1, type: "string" },
    labels: { number: 2, type: LABEL, repeated: true },
    target: { number: 3, type: DESCRIPTOR },
  },
} as const satisfies MessageDescriptor;

export const IMAGE_CREATE = {
  name: "images.CreateImageRequest",
  fields: { image: { number: 1, type: IMAGE } },
} as const satisfies MessageDescriptor;

export const IMAGE_UPDATE = {
  name: "images.UpdateImageRequest",
  fields: { image: { number: 1, type: IMAGE }, updateMask: { number: 2, type: FIELD_MASK } },
} as const satisfies MessageDescriptor;

export const SNAPSHOT_STAT = { name: "snapshots.StatSnapshotRequest", fields: snapshotKeyFields } as const satisfies MessageDescriptor;

export const SNAPSHOT_PREPARE = {
  name: "snapshots.PrepareSnapshotRequest",
  fields: { ...snapshotKeyFields, parent: { number: 3, type: "string" } },
} as const satisfies MessageDescriptor;

export const SNAPSHOT_PREPARED = {
  name: "snapshots.PrepareSnapshotResponse",
  fields: { mounts: snapshotMountsField },
} as const satisfies MessageDescriptor;

export const SNAPSHOT_COMMIT = {
  name: "snapshots.CommitSnapshotRequest",
  fields: { snapshotter: { number: 1, type: "string" }, name: { number: 2, type: "string" }, key: { number: 3, type: "string" } },
} as const satisfies MessageDescriptor;

export const DIFF_APPLY = {
  name: "diff.ApplyRequest",
  fields: { diff: { number: 1, type: DESCRIPTOR }, mounts: { ...snapshotMountsField, number: 2 } },
} as const satisfies MessageDescriptor;

export const DIFF_APPLIED = {
  name: "diff.ApplyResponse",
  fields: { applied: { number: 1, type: DESCRIPTOR } },
} as const satisfies MessageDescriptor;

export const IMAGE_FS_INFO_REQUEST = { name: "ImageFsInfoRequest", fields: {} } as const satisfies MessageDescriptor;

const FILESYSTEM = {
  name: "FilesystemUsage",
  fields: { id: { number: 2, type: { name: "FilesystemIdentifier", fields: { mountPoint: { number: 1, type: "string" } } } } },
} as const satisfies MessageDescriptor;

export const IMAGE_FS_INFO_RESPONSE = {
  name: "ImageFsInfoResponse",
  fields: { imageFilesystems: { number: 1, type: FILESYSTEM, repeated: true } },
} as const satisfies MessageDescriptor;

const IMAGE_SPEC = { name: "ImageSpec", fields: { image: { number: 1, type: "string" } } } as const satisfies MessageDescriptor;

export const IMAGE_STATUS_REQUEST = {
  name: "ImageStatusRequest",
  fields: { image: { number: 1, type: IMAGE_SPEC } },
} as const satisfies MessageDescriptor;

export const IMAGE_STATUS_RESPONSE = {
  name: "ImageStatusResponse",
  fields: { image: { number: 1, type: { name: "Image", fields: { id: { number: 1, type: "string" } } } } },
} as const satisfies MessageDescriptor;

export const PULL_REQUEST = {
  name: "PullImageRequest",
  fields: { image: { number: 1, type: IMAGE_SPEC } },
} as const satisfies MessageDescriptor;

/** Owner of the namespace. */
export const NAMESPACE_MODE = { container: 1, node: 2 } as const;

const SANDBOX_METADATA = {
  name: "PodSandboxMetadata",
  fields: { name: { number: 1, type: "string" }, uid: { number: 2, type: "string" }, namespace: { number: 3, type: "string" } },
} as const satisfies MessageDescriptor;

const NAMESPACE_OPTIONS = {
  name: "NamespaceOption",
  fields: {
    network: { number: 1, type: "int32" },
    users: { number: 5, type: { name: "UserNamespace", fields: { mode: { number: 1, type: "int32" } } } },
  },
} as const satisfies MessageDescriptor;

const SECURITY_CONTEXT = {
  name: "LinuxSandboxSecurityContext",
  fields: { namespaceOptions: { number: 1, type: NAMESPACE_OPTIONS } },
} as const satisfies MessageDescriptor;

export const RUN_SANDBOX_REQUEST = {
  name: "RunPodSandboxRequest",
  fields: {
    config: {
      number: 1,
      type: {
        name: "PodSandboxConfig",
        fields: {
          metadata: { number: 1, type: SANDBOX_METADATA },
          linux: {
            number: 8,
            type: { name: "LinuxPodSandboxConfig", fields: { securityContext: { number: 2, type: SECURITY_CONTEXT } } },
          },
        },
      },
    },
  },
} as const satisfies MessageDescriptor;

/** Response of RunPodSandbox and request of RemovePodSandbox. */
export const SANDBOX_ID = { name: "PodSandboxId", fields: { id: { number: 1, type: "string" } } } as const satisfies MessageDescriptor;
