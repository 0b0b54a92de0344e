/**
 * Event messages: the CRI's own stream, which containerd has only from 1.7 on, and containerd's, which every version has on the same
 * socket. Also containerd's report of downloads in progress. See common.ts.
 */
import type { MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { nothing } from "../../../../base/protobuf/shared-messages.ts";
import { TIMEOUTS_MS, type CriMethod } from "./common.ts";

/** containerd namespace of the CRI's containers. */
export const CONTAINERD_NAMESPACE = "k8s.io";

export const containerEvents = {
  path: "/runtime.v1.RuntimeService/GetContainerEvents",
  request: nothing,
  response: {
    name: "ContainerEventResponse",
    fields: { containerId: { number: 1, type: "string" }, type: { number: 2, type: "int32" } },
  },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

export const CONTAINER_STOPPED_EVENT = 2;

export const TASK_EXIT = "/tasks/exit";
export const TASK_OOM = "/tasks/oom";

export const containerdEvents = {
  path: "/containerd.services.events.v1.Events/Subscribe",
  request: { name: "SubscribeRequest", fields: { filters: { number: 1, type: "string", repeated: true } } },
  response: {
    name: "Envelope",
    fields: {
      topic: { number: 3, type: "string" },
      event: { number: 4, type: { name: "Any", fields: { value: { number: 2, type: "bytes" } } } },
    },
  },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

/** Also for TaskOOM, which has only the container. */
export const taskExit = {
  name: "TaskExit",
  fields: {
    containerId: { number: 1, type: "string" },
    /** Of the process: the container's main process has the container's id, an exec'd command another. */
    id: { number: 2, type: "string" },
  },
} as const satisfies MessageDescriptor;

export const downloads = {
  path: "/containerd.services.content.v1.Content/ListStatuses",
  request: nothing,
  response: {
    name: "ListStatusesResponse",
    fields: {
      statuses: {
        number: 1,
        repeated: true,
        type: {
          name: "Status",
          fields: { ref: { number: 3, type: "string" }, offset: { number: 4, type: "int64" }, total: { number: 5, type: "int64" } },
        },
      },
    },
  },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;
