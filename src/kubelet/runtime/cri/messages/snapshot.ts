/** Messages of containerd's snapshot service, on the same socket as the CRI. Field numbers are those of containerd's published API. */
import type { MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { entry, nothing } from "../../../../base/protobuf/shared-messages.ts";
import { TIMEOUTS_MS, type CriMethod } from "./common.ts";

const SERVICE = "/containerd.services.snapshots.v1.Snapshots";

const mount = {
  name: "Mount",
  fields: {
    type: { number: 1, type: "string" },
    source: { number: 2, type: "string" },
    options: { number: 4, type: "string", repeated: true },
  },
} as const satisfies MessageDescriptor;

const mounts = {
  name: "MountsResponse",
  fields: { mounts: { number: 1, type: mount, repeated: true } },
} as const satisfies MessageDescriptor;

const named = { snapshotter: { number: 1, type: "string" }, key: { number: 2, type: "string" } } as const;

export const viewSnapshot = {
  path: `${SERVICE}/View`,
  request: {
    name: "ViewSnapshotRequest",
    fields: { ...named, parent: { number: 3, type: "string" }, labels: { number: 4, type: entry, repeated: true } },
  },
  response: mounts,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

export const snapshotMounts = {
  path: `${SERVICE}/Mounts`,
  request: { name: "MountsRequest", fields: named },
  response: mounts,
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

export const removeSnapshot = {
  path: `${SERVICE}/Remove`,
  request: { name: "RemoveSnapshotRequest", fields: named },
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;
