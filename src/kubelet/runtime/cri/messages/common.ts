/**
 * Descriptions of the CRI's messages (package runtime.v1), and the parts that several of them share. Numbers and meanings are facts of the
 * wire format; only the fields that this driver uses are named, the others are skipped. Timestamps are nanoseconds since the epoch, which
 * exceed a double: they are read as uint64, as bigints.
 */
import type { MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { entry, type Entry } from "../../../../base/protobuf/shared-messages.ts";

/** Timeouts by kind of call. Named here, so that every method has one. */
export const TIMEOUTS_MS = {
  /** Answered from the runtime's memory. */
  look: 30_000,
  /** Calls that change something: upstream's runtimeRequestTimeout. */
  change: 120_000,
  /** Networks are set up by third-party plugins: upstream's value. */
  sandbox: 240_000,
  /** A large image over a slow connection; the caller cancels by a signal. */
  pull: 3_600_000,
} as const;

export interface CriMethod<Q extends MessageDescriptor = MessageDescriptor, A extends MessageDescriptor = MessageDescriptor> {
  readonly path: string;
  readonly request: Q;
  readonly response: A;
  readonly timeoutMs: number;
}

export const int64Value = { name: "Int64Value", fields: { value: { number: 1, type: "int64" } } } as const satisfies MessageDescriptor;
export const uint64Value = { name: "UInt64Value", fields: { value: { number: 1, type: "uint64" } } } as const satisfies MessageDescriptor;

export const imageSpec = {
  name: "ImageSpec",
  fields: {
    image: { number: 1, type: "string" },
    annotations: { number: 2, type: entry, repeated: true },
    userSpecifiedImage: { number: 18, type: "string" },
    runtimeHandler: { number: 19, type: "string" },
  },
} as const satisfies MessageDescriptor;

const idMapping = {
  name: "IDMapping",
  fields: {
    hostId: { number: 1, type: "uint32" },
    containerId: { number: 2, type: "uint32" },
    length: { number: 3, type: "uint32" },
  },
} as const satisfies MessageDescriptor;

const userNamespace = {
  name: "UserNamespace",
  fields: {
    mode: { number: 1, type: "int32" },
    uids: { number: 2, type: idMapping, repeated: true },
    gids: { number: 3, type: idMapping, repeated: true },
  },
} as const satisfies MessageDescriptor;

export const namespaceOption = {
  name: "NamespaceOption",
  fields: {
    network: { number: 1, type: "int32" },
    pid: { number: 2, type: "int32" },
    ipc: { number: 3, type: "int32" },
    targetId: { number: 4, type: "string" },
    userNamespace: { number: 5, type: userNamespace },
  },
} as const satisfies MessageDescriptor;

export const seLinuxOption = {
  name: "SELinuxOption",
  fields: {
    user: { number: 1, type: "string" },
    role: { number: 2, type: "string" },
    type: { number: 3, type: "string" },
    level: { number: 4, type: "string" },
  },
} as const satisfies MessageDescriptor;

export const securityProfile = {
  name: "SecurityProfile",
  fields: { profileType: { number: 1, type: "int32" }, localhostRef: { number: 2, type: "string" } },
} as const satisfies MessageDescriptor;

const hugepageLimit = {
  name: "HugepageLimit",
  fields: { pageSize: { number: 1, type: "string" }, limit: { number: 2, type: "uint64" } },
} as const satisfies MessageDescriptor;

export const linuxResources = {
  name: "LinuxContainerResources",
  fields: {
    cpuPeriod: { number: 1, type: "int64" },
    cpuQuota: { number: 2, type: "int64" },
    cpuShares: { number: 3, type: "int64" },
    memoryLimitBytes: { number: 4, type: "int64" },
    oomScoreAdj: { number: 5, type: "int64" },
    cpusetCpus: { number: 6, type: "string" },
    cpusetMems: { number: 7, type: "string" },
    hugepageLimits: { number: 8, type: hugepageLimit, repeated: true },
    unified: { number: 9, type: entry, repeated: true },
    memorySwapLimitBytes: { number: 10, type: "int64" },
  },
} as const satisfies MessageDescriptor;

export function mapOf(entries: readonly Entry[]): ReadonlyMap<string, string> {
  return new Map(entries.map(({ key, value }) => [key, value]));
}

/** Whole milliseconds since the epoch. */
export function millisecondsOf(nanoseconds: bigint): number {
  return Number(BigInt.asIntN(64, nanoseconds) / 1_000_000n);
}
