/**
 * Descriptions of CSI messages (package csi.v1, version 1.12) that several services share. Numbers and meanings are facts of the wire
 * format; fields that k8ts does not use are not named and are skipped. A map is a repeated entry, a one-of is a message of which one field is set.
 */
import type { Decoded, Encodable, MessageDescriptor } from "../../base/protobuf/messages.ts";
import { entry, type Entry } from "../../base/protobuf/shared-messages.ts";
import type { CsiAccessMode, CsiCapacityRange, CsiMap, CsiVolumeCapability } from "../contract.ts";

export interface CsiMethod<Q extends MessageDescriptor = MessageDescriptor, A extends MessageDescriptor = MessageDescriptor> {
  /** `/csi.v1.<Service>/<Method>` */
  readonly path: string;
  readonly request: Q;
  readonly response: A;
}

export const boolValue = { name: "BoolValue", fields: { value: { number: 1, type: "bool" } } } as const satisfies MessageDescriptor;
/** Sizes may exceed a safe integer: a driver without a limit may answer 2^63 - 1. */
export const int64Value = { name: "Int64Value", fields: { value: { number: 1, type: "uint64" } } } as const satisfies MessageDescriptor;

/** A capability of a service: `rpc.type` is a number of an enum. */
export const rpcCapability = {
  name: "ServiceCapability",
  fields: { rpc: { number: 1, type: { name: "RPC", fields: { type: { number: 1, type: "int32" } } } } },
} as const satisfies MessageDescriptor;

export const capacityRange = {
  name: "CapacityRange",
  fields: { requiredBytes: { number: 1, type: "int64" }, limitBytes: { number: 2, type: "int64" } },
} as const satisfies MessageDescriptor;

export const topology = {
  name: "Topology",
  fields: { segments: { number: 1, type: entry, repeated: true } },
} as const satisfies MessageDescriptor;

export const volumeCapability = {
  name: "VolumeCapability",
  fields: {
    block: { number: 1, type: { name: "BlockVolume", fields: {} } },
    mount: {
      number: 2,
      type: {
        name: "MountVolume",
        fields: {
          fsType: { number: 1, type: "string" },
          mountFlags: { number: 2, type: "string", repeated: true },
          volumeMountGroup: { number: 3, type: "string" },
        },
      },
    },
    accessMode: { number: 3, type: { name: "AccessMode", fields: { mode: { number: 1, type: "int32" } } } },
  },
} as const satisfies MessageDescriptor;

export const volumeCondition = {
  name: "VolumeCondition",
  fields: { abnormal: { number: 1, type: "bool" }, message: { number: 2, type: "string" } },
} as const satisfies MessageDescriptor;

/** The index is the enum's number. */
export const ACCESS_MODES: readonly (CsiAccessMode | "UNKNOWN")[] = [
  "UNKNOWN",
  "SINGLE_NODE_WRITER",
  "SINGLE_NODE_READER_ONLY",
  "MULTI_NODE_READER_ONLY",
  "MULTI_NODE_SINGLE_WRITER",
  "MULTI_NODE_MULTI_WRITER",
  "SINGLE_NODE_SINGLE_WRITER",
  "SINGLE_NODE_MULTI_WRITER",
];

export function capabilityMessage({ access, accessMode }: CsiVolumeCapability): Encodable<typeof volumeCapability> {
  return {
    accessMode: { mode: ACCESS_MODES.indexOf(accessMode) },
    ...(access === "block" ? { block: {} } : { mount: access }),
  };
}

export function capacityMessage({ requiredBytes, limitBytes }: CsiCapacityRange): Encodable<typeof capacityRange> {
  return { requiredBytes, limitBytes };
}

export function recordOf(entries: readonly Entry[]): CsiMap {
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
}

/** Names of the enum's numbers that a driver sent; numbers of a later version are left out. */
export function namesOf<Name extends string>(
  capabilities: readonly Decoded<typeof rpcCapability>[],
  names: readonly (Name | "UNKNOWN")[],
): ReadonlySet<Name> {
  const found = capabilities.map(({ rpc }) => names[rpc?.type ?? 0]);
  return new Set(found.filter((name): name is Name => name !== undefined && name !== "UNKNOWN"));
}
