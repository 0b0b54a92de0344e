/**
 * CRI messages of the runtime itself and of sandboxes (runtime.v1.RuntimeService), limited to the fields this driver uses; see common.ts.
 */
import type { Decoded, Encodable, MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { entry, nothing } from "../../../../base/protobuf/shared-messages.ts";
import { int64Value, linuxResources, namespaceOption, securityProfile, seLinuxOption, TIMEOUTS_MS, type CriMethod } from "./common.ts";

const SERVICE = "/runtime.v1.RuntimeService";

const versionResponse = {
  name: "VersionResponse",
  fields: { runtimeName: { number: 2, type: "string" }, runtimeVersion: { number: 3, type: "string" } },
} as const satisfies MessageDescriptor;

export const version = {
  path: `${SERVICE}/Version`,
  request: nothing,
  response: versionResponse,
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

const runtimeCondition = {
  name: "RuntimeCondition",
  fields: {
    type: { number: 1, type: "string" },
    status: { number: 2, type: "bool" },
    reason: { number: 3, type: "string" },
    message: { number: 4, type: "string" },
  },
} as const satisfies MessageDescriptor;
export type RuntimeCondition = Decoded<typeof runtimeCondition>;

const runtimeHandler = {
  name: "RuntimeHandler",
  fields: {
    name: { number: 1, type: "string" },
    features: {
      number: 2,
      type: {
        name: "RuntimeHandlerFeatures",
        fields: { recursiveReadOnlyMounts: { number: 1, type: "bool" }, userNamespaces: { number: 2, type: "bool" } },
      },
    },
  },
} as const satisfies MessageDescriptor;

const statusResponse = {
  name: "StatusResponse",
  fields: {
    status: {
      number: 1,
      type: { name: "RuntimeStatus", fields: { conditions: { number: 1, type: runtimeCondition, repeated: true } } },
    },
    info: { number: 2, type: entry, repeated: true },
    runtimeHandlers: { number: 3, type: runtimeHandler, repeated: true },
    features: { number: 4, type: { name: "RuntimeFeatures", fields: { supplementalGroupsPolicy: { number: 1, type: "bool" } } } },
  },
} as const satisfies MessageDescriptor;
export type StatusResponse = Decoded<typeof statusResponse>;

export const runtimeStatus = {
  path: `${SERVICE}/Status`,
  request: { name: "StatusRequest", fields: { verbose: { number: 1, type: "bool" } } },
  response: statusResponse,
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

// ── sandboxes ─────────────────────────────────────────────────────────────────────────────────────────

export const SANDBOX_READY = 0;

const sandboxMetadata = {
  name: "PodSandboxMetadata",
  fields: {
    name: { number: 1, type: "string" },
    uid: { number: 2, type: "string" },
    namespace: { number: 3, type: "string" },
    attempt: { number: 4, type: "uint32" },
  },
} as const satisfies MessageDescriptor;

const dnsConfig = {
  name: "DNSConfig",
  fields: {
    servers: { number: 1, type: "string", repeated: true },
    searches: { number: 2, type: "string", repeated: true },
    options: { number: 3, type: "string", repeated: true },
  },
} as const satisfies MessageDescriptor;

const portMapping = {
  name: "PortMapping",
  fields: {
    protocol: { number: 1, type: "int32" },
    containerPort: { number: 2, type: "int32" },
    hostPort: { number: 3, type: "int32" },
    hostIp: { number: 4, type: "string" },
  },
} as const satisfies MessageDescriptor;

const sandboxSecurity = {
  name: "LinuxSandboxSecurityContext",
  fields: {
    namespaces: { number: 1, type: namespaceOption },
    seLinux: { number: 2, type: seLinuxOption },
    runAsUser: { number: 3, type: int64Value },
    readOnlyRoot: { number: 4, type: "bool" },
    supplementalGroups: { number: 5, type: "int64", repeated: true },
    privileged: { number: 6, type: "bool" },
    runAsGroup: { number: 8, type: int64Value },
    seccomp: { number: 9, type: securityProfile },
    apparmor: { number: 10, type: securityProfile },
    supplementalGroupsPolicy: { number: 11, type: "int32" },
  },
} as const satisfies MessageDescriptor;

const linuxSandbox = {
  name: "LinuxPodSandboxConfig",
  fields: {
    cgroupParent: { number: 1, type: "string" },
    security: { number: 2, type: sandboxSecurity },
    sysctls: { number: 3, type: entry, repeated: true },
    resources: { number: 5, type: linuxResources },
  },
} as const satisfies MessageDescriptor;

export const sandboxConfig = {
  name: "PodSandboxConfig",
  fields: {
    metadata: { number: 1, type: sandboxMetadata },
    hostname: { number: 2, type: "string" },
    logDirectory: { number: 3, type: "string" },
    dns: { number: 4, type: dnsConfig },
    portMappings: { number: 5, type: portMapping, repeated: true },
    labels: { number: 6, type: entry, repeated: true },
    annotations: { number: 7, type: entry, repeated: true },
    linux: { number: 8, type: linuxSandbox },
  },
} as const satisfies MessageDescriptor;
export type SandboxConfigMessage = Encodable<typeof sandboxConfig>;

const idRequest = { name: "PodSandboxRequest", fields: { id: { number: 1, type: "string" } } } as const satisfies MessageDescriptor;

export const runPodSandbox = {
  path: `${SERVICE}/RunPodSandbox`,
  request: {
    name: "RunPodSandboxRequest",
    fields: { config: { number: 1, type: sandboxConfig }, runtimeHandler: { number: 2, type: "string" } },
  },
  response: { name: "RunPodSandboxResponse", fields: { id: { number: 1, type: "string" } } },
  timeoutMs: TIMEOUTS_MS.sandbox,
} as const satisfies CriMethod;

export const stopPodSandbox = {
  path: `${SERVICE}/StopPodSandbox`,
  request: idRequest,
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

export const removePodSandbox = {
  path: `${SERVICE}/RemovePodSandbox`,
  request: idRequest,
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

const podIp = { name: "PodIP", fields: { ip: { number: 1, type: "string" } } } as const satisfies MessageDescriptor;

const sandboxStatus = {
  name: "PodSandboxStatus",
  fields: {
    id: { number: 1, type: "string" },
    state: { number: 3, type: "int32" },
    network: {
      number: 5,
      type: {
        name: "PodSandboxNetworkStatus",
        fields: { ip: { number: 1, type: "string" }, additionalIps: { number: 2, type: podIp, repeated: true } },
      },
    },
    labels: { number: 7, type: entry, repeated: true },
  },
} as const satisfies MessageDescriptor;

export const podSandboxStatus = {
  path: `${SERVICE}/PodSandboxStatus`,
  request: idRequest,
  response: { name: "PodSandboxStatusResponse", fields: { status: { number: 1, type: sandboxStatus } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

const listedSandbox = {
  name: "PodSandbox",
  fields: {
    id: { number: 1, type: "string" },
    metadata: { number: 2, type: sandboxMetadata },
    state: { number: 3, type: "int32" },
    createdAt: { number: 4, type: "uint64" },
    labels: { number: 5, type: entry, repeated: true },
    annotations: { number: 6, type: entry, repeated: true },
  },
} as const satisfies MessageDescriptor;
export type ListedSandbox = Decoded<typeof listedSandbox>;

const sandboxFilter = {
  name: "PodSandboxFilter",
  fields: { id: { number: 1, type: "string" }, labels: { number: 3, type: entry, repeated: true } },
} as const satisfies MessageDescriptor;

export const listPodSandbox = {
  path: `${SERVICE}/ListPodSandbox`,
  request: { name: "ListPodSandboxRequest", fields: { filter: { number: 1, type: sandboxFilter } } },
  response: { name: "ListPodSandboxResponse", fields: { items: { number: 1, type: listedSandbox, repeated: true } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;
