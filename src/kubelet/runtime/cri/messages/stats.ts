/** CRI messages of resource usage (runtime.v1.RuntimeService), limited to the fields this driver uses; see common.ts. */
import type { Decoded, MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { entry } from "../../../../base/protobuf/shared-messages.ts";
import { TIMEOUTS_MS, uint64Value, type CriMethod } from "./common.ts";

const SERVICE = "/runtime.v1.RuntimeService";

const cpuUsage = {
  name: "CpuUsage",
  fields: {
    timestamp: { number: 1, type: "uint64" },
    coreNanoseconds: { number: 2, type: uint64Value },
    nanoCores: { number: 3, type: uint64Value },
  },
} as const satisfies MessageDescriptor;
export type CpuUsage = Decoded<typeof cpuUsage>;

const memoryUsage = {
  name: "MemoryUsage",
  fields: {
    timestamp: { number: 1, type: "uint64" },
    workingSetBytes: { number: 2, type: uint64Value },
    usageBytes: { number: 4, type: uint64Value },
    rssBytes: { number: 5, type: uint64Value },
    pageFaults: { number: 6, type: uint64Value },
    majorPageFaults: { number: 7, type: uint64Value },
  },
} as const satisfies MessageDescriptor;
export type MemoryUsage = Decoded<typeof memoryUsage>;

const attributes = {
  name: "Attributes",
  fields: { id: { number: 1, type: "string" }, labels: { number: 3, type: entry, repeated: true } },
} as const satisfies MessageDescriptor;

const filesystemUsage = {
  name: "FilesystemUsage",
  fields: { usedBytes: { number: 3, type: uint64Value }, inodesUsed: { number: 4, type: uint64Value } },
} as const satisfies MessageDescriptor;

const containerStats = {
  name: "ContainerStats",
  fields: {
    attributes: { number: 1, type: attributes },
    cpu: { number: 2, type: cpuUsage },
    memory: { number: 3, type: memoryUsage },
    writableLayer: { number: 4, type: filesystemUsage },
  },
} as const satisfies MessageDescriptor;
export type ContainerStatsMessage = Decoded<typeof containerStats>;

const interfaceUsage = {
  name: "NetworkInterfaceUsage",
  fields: {
    rxBytes: { number: 2, type: uint64Value },
    rxErrors: { number: 3, type: uint64Value },
    txBytes: { number: 4, type: uint64Value },
    txErrors: { number: 5, type: uint64Value },
  },
} as const satisfies MessageDescriptor;

const sandboxStats = {
  name: "PodSandboxStats",
  fields: {
    attributes: { number: 1, type: attributes },
    linux: {
      number: 2,
      type: {
        name: "LinuxPodSandboxStats",
        fields: {
          cpu: { number: 1, type: cpuUsage },
          memory: { number: 2, type: memoryUsage },
          network: { number: 3, type: { name: "NetworkUsage", fields: { defaultInterface: { number: 2, type: interfaceUsage } } } },
          process: { number: 4, type: { name: "ProcessUsage", fields: { processCount: { number: 2, type: uint64Value } } } },
        },
      },
    },
  },
} as const satisfies MessageDescriptor;
export type SandboxStatsMessage = Decoded<typeof sandboxStats>;

export const listContainerStats = {
  path: `${SERVICE}/ListContainerStats`,
  request: {
    name: "ListContainerStatsRequest",
    fields: {
      filter: { number: 1, type: { name: "ContainerStatsFilter", fields: { labels: { number: 3, type: entry, repeated: true } } } },
    },
  },
  response: { name: "ListContainerStatsResponse", fields: { stats: { number: 1, type: containerStats, repeated: true } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

export const listPodSandboxStats = {
  path: `${SERVICE}/ListPodSandboxStats`,
  request: {
    name: "ListPodSandboxStatsRequest",
    fields: {
      filter: { number: 1, type: { name: "PodSandboxStatsFilter", fields: { labels: { number: 2, type: entry, repeated: true } } } },
    },
  },
  response: { name: "ListPodSandboxStatsResponse", fields: { stats: { number: 1, type: sandboxStats, repeated: true } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;
