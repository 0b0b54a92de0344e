/** Messages of containerd's snapshot service, on the same socket as the CRI. Field numbers are those of containerd's published API. */
import type { MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { entry, nothing } from "../../../../base/protobuf/shared-messages.ts";
import { snapshotKeyFields, snapshotMountsField } from "../../../shared/snapshots.ts";
import { TIMEOUTS_MS, type CriMethod } from "./common.ts";

const SERVICE = "/containerd.services.snapshots.v1.Snapshots";

const mounts = {
  name: "MountsResponse",
  fields: { mounts: snapshotMountsField },
} as const satisfies MessageDescriptor;

export const viewSnapshot = {
  path: `${SERVICE}/View`,
  request: {
    name: "ViewSnapshotRequest",
    fields: { ...snapshotKeyFields, parent: { number: 3, type: "string" }, labels: { number: 4, type: entry, repeated: true } },
  },
  response: mounts,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

export const snapshotMounts = {
  path: `${SERVICE}/Mounts`,
  request: { name: "MountsRequest", fields: snapshotKeyFields },
  response: mounts,
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

export const removeSnapshot = {
  path: `${SERVICE}/Remove`,
  request: { name: "RemoveSnapshotRequest", fields: snapshotKeyFields },
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;
