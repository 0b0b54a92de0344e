/** CRI messages of containers (runtime.v1.RuntimeService), limited to the fields this driver uses; see common.ts. */
import type { Decoded, Encodable, MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { entry, nothing } from "../../../../base/protobuf/shared-messages.ts";
import {
  imageSpec,
  int64Value,
  linuxResources,
  namespaceOption,
  securityProfile,
  seLinuxOption,
  TIMEOUTS_MS,
  type CriMethod,
} from "./common.ts";
import { sandboxConfig } from "./sandbox.ts";

const SERVICE = "/runtime.v1.RuntimeService";

export const CONTAINER_CREATED = 0;
export const CONTAINER_RUNNING = 1;
export const CONTAINER_EXITED = 2;

const containerMetadata = {
  name: "ContainerMetadata",
  fields: { name: { number: 1, type: "string" }, attempt: { number: 2, type: "uint32" } },
} as const satisfies MessageDescriptor;

const mount = {
  name: "Mount",
  fields: {
    containerPath: { number: 1, type: "string" },
    hostPath: { number: 2, type: "string" },
    readOnly: { number: 3, type: "bool" },
    seLinuxRelabel: { number: 4, type: "bool" },
    propagation: { number: 5, type: "int32" },
    recursiveReadOnly: { number: 8, type: "bool" },
  },
} as const satisfies MessageDescriptor;

const device = {
  name: "Device",
  fields: {
    containerPath: { number: 1, type: "string" },
    hostPath: { number: 2, type: "string" },
    permissions: { number: 3, type: "string" },
  },
} as const satisfies MessageDescriptor;

const capability = {
  name: "Capability",
  fields: { add: { number: 1, type: "string", repeated: true }, drop: { number: 2, type: "string", repeated: true } },
} as const satisfies MessageDescriptor;

const containerSecurity = {
  name: "LinuxContainerSecurityContext",
  fields: {
    capabilities: { number: 1, type: capability },
    privileged: { number: 2, type: "bool" },
    namespaces: { number: 3, type: namespaceOption },
    seLinux: { number: 4, type: seLinuxOption },
    runAsUser: { number: 5, type: int64Value },
    runAsUserName: { number: 6, type: "string" },
    readOnlyRoot: { number: 7, type: "bool" },
    supplementalGroups: { number: 8, type: "int64", repeated: true },
    noNewPrivileges: { number: 11, type: "bool" },
    runAsGroup: { number: 12, type: int64Value },
    maskedPaths: { number: 13, type: "string", repeated: true },
    readOnlyPaths: { number: 14, type: "string", repeated: true },
    seccomp: { number: 15, type: securityProfile },
    apparmor: { number: 16, type: securityProfile },
    supplementalGroupsPolicy: { number: 17, type: "int32" },
  },
} as const satisfies MessageDescriptor;

const linuxContainer = {
  name: "LinuxContainerConfig",
  fields: { resources: { number: 1, type: linuxResources }, security: { number: 2, type: containerSecurity } },
} as const satisfies MessageDescriptor;

const cdiDevice = { name: "CDIDevice", fields: { name: { number: 1, type: "string" } } } as const satisfies MessageDescriptor;

const containerConfig = {
  name: "ContainerConfig",
  fields: {
    metadata: { number: 1, type: containerMetadata },
    image: { number: 2, type: imageSpec },
    command: { number: 3, type: "string", repeated: true },
    args: { number: 4, type: "string", repeated: true },
    workingDirectory: { number: 5, type: "string" },
    environment: { number: 6, type: entry, repeated: true },
    mounts: { number: 7, type: mount, repeated: true },
    devices: { number: 8, type: device, repeated: true },
    labels: { number: 9, type: entry, repeated: true },
    annotations: { number: 10, type: entry, repeated: true },
    logPath: { number: 11, type: "string" },
    stdin: { number: 12, type: "bool" },
    stdinOnce: { number: 13, type: "bool" },
    tty: { number: 14, type: "bool" },
    linux: { number: 15, type: linuxContainer },
    cdiDevices: { number: 17, type: cdiDevice, repeated: true },
    stopSignal: { number: 18, type: "int32" },
  },
} as const satisfies MessageDescriptor;
export type ContainerConfigMessage = Encodable<typeof containerConfig>;

const idRequest = { name: "ContainerRequest", fields: { id: { number: 1, type: "string" } } } as const satisfies MessageDescriptor;

export const createContainer = {
  path: `${SERVICE}/CreateContainer`,
  request: {
    name: "CreateContainerRequest",
    fields: {
      sandboxId: { number: 1, type: "string" },
      config: { number: 2, type: containerConfig },
      sandboxConfig: { number: 3, type: sandboxConfig },
    },
  },
  response: { name: "CreateContainerResponse", fields: { id: { number: 1, type: "string" } } },
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

export const startContainer = {
  path: `${SERVICE}/StartContainer`,
  request: idRequest,
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

export const stopContainer = {
  path: `${SERVICE}/StopContainer`,
  request: { name: "StopContainerRequest", fields: { id: { number: 1, type: "string" }, timeoutSeconds: { number: 2, type: "int64" } } },
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

export const removeContainer = {
  path: `${SERVICE}/RemoveContainer`,
  request: idRequest,
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

const listedContainer = {
  name: "Container",
  fields: {
    id: { number: 1, type: "string" },
    sandboxId: { number: 2, type: "string" },
    metadata: { number: 3, type: containerMetadata },
    image: { number: 4, type: imageSpec },
    imageRef: { number: 5, type: "string" },
    state: { number: 6, type: "int32" },
    createdAt: { number: 7, type: "uint64" },
    labels: { number: 8, type: entry, repeated: true },
  },
} as const satisfies MessageDescriptor;
export type ListedContainer = Decoded<typeof listedContainer>;

const containerFilter = {
  name: "ContainerFilter",
  fields: {
    id: { number: 1, type: "string" },
    sandboxId: { number: 3, type: "string" },
    labels: { number: 4, type: entry, repeated: true },
  },
} as const satisfies MessageDescriptor;

export const listContainers = {
  path: `${SERVICE}/ListContainers`,
  request: { name: "ListContainersRequest", fields: { filter: { number: 1, type: containerFilter } } },
  response: { name: "ListContainersResponse", fields: { containers: { number: 1, type: listedContainer, repeated: true } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

const containerStatusMessage = {
  name: "ContainerStatus",
  fields: {
    id: { number: 1, type: "string" },
    metadata: { number: 2, type: containerMetadata },
    state: { number: 3, type: "int32" },
    createdAt: { number: 4, type: "uint64" },
    startedAt: { number: 5, type: "uint64" },
    finishedAt: { number: 6, type: "uint64" },
    exitCode: { number: 7, type: "int32" },
    image: { number: 8, type: imageSpec },
    imageRef: { number: 9, type: "string" },
    reason: { number: 10, type: "string" },
    message: { number: 11, type: "string" },
    labels: { number: 12, type: entry, repeated: true },
    annotations: { number: 13, type: entry, repeated: true },
    mounts: { number: 14, type: mount, repeated: true },
    logPath: { number: 15, type: "string" },
  },
} as const satisfies MessageDescriptor;
export type ContainerStatusMessage = Decoded<typeof containerStatusMessage>;

export const containerStatus = {
  path: `${SERVICE}/ContainerStatus`,
  request: idRequest,
  response: { name: "ContainerStatusResponse", fields: { status: { number: 1, type: containerStatusMessage } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

export const updateContainerResources = {
  path: `${SERVICE}/UpdateContainerResources`,
  request: {
    name: "UpdateContainerResourcesRequest",
    fields: { id: { number: 1, type: "string" }, linux: { number: 2, type: linuxResources } },
  },
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

export const reopenContainerLog = {
  path: `${SERVICE}/ReopenContainerLog`,
  request: idRequest,
  response: nothing,
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

// ── commands and connections ──────────────────────────────────────────────────────────────────────────

export const execSync = {
  path: `${SERVICE}/ExecSync`,
  request: {
    name: "ExecSyncRequest",
    fields: {
      id: { number: 1, type: "string" },
      command: { number: 2, type: "string", repeated: true },
      timeoutSeconds: { number: 3, type: "int64" },
    },
  },
  response: {
    name: "ExecSyncResponse",
    fields: { stdout: { number: 1, type: "bytes" }, stderr: { number: 2, type: "bytes" }, exitCode: { number: 3, type: "int32" } },
  },
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;

const urlResponse = { name: "UrlResponse", fields: { url: { number: 1, type: "string" } } } as const satisfies MessageDescriptor;

export const exec = {
  path: `${SERVICE}/Exec`,
  request: {
    name: "ExecRequest",
    fields: {
      id: { number: 1, type: "string" },
      command: { number: 2, type: "string", repeated: true },
      tty: { number: 3, type: "bool" },
      stdin: { number: 4, type: "bool" },
      stdout: { number: 5, type: "bool" },
      stderr: { number: 6, type: "bool" },
    },
  },
  response: urlResponse,
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

export const attach = {
  path: `${SERVICE}/Attach`,
  request: {
    name: "AttachRequest",
    fields: {
      id: { number: 1, type: "string" },
      stdin: { number: 2, type: "bool" },
      tty: { number: 3, type: "bool" },
      stdout: { number: 4, type: "bool" },
      stderr: { number: 5, type: "bool" },
    },
  },
  response: urlResponse,
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

export const portForward = {
  path: `${SERVICE}/PortForward`,
  request: {
    name: "PortForwardRequest",
    fields: { sandboxId: { number: 1, type: "string" }, ports: { number: 2, type: "int32", repeated: true } },
  },
  response: urlResponse,
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;
