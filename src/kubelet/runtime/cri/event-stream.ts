/** Events of a runtime in one form: containerd's own, which all its versions have, and the CRI's for other runtimes, where supported. */
import { decode } from "../../../base/protobuf/messages.ts";
import { isUnimplemented, type CriClient } from "./cri-client.ts";
import {
  CONTAINER_STOPPED_EVENT,
  containerdEvents,
  CONTAINERD_NAMESPACE,
  containerEvents,
  TASK_EXIT,
  TASK_OOM,
  taskExit,
} from "./messages/event.ts";

/** `id` is that of a container or a sandbox. */
export interface RuntimeEvent {
  readonly is: "ended" | "out-of-memory";
  readonly id: string;
}

export interface EventHandlers {
  event(event: RuntimeEvent): void;
  /** Called once, unless the stream was closed. `isAbsent`: the runtime has no such stream. */
  ended(isAbsent: boolean): void;
}

/** Returns a function that closes it. */
export function openEventStream(client: CriClient, runtimeName: string, { event, ended }: EventHandlers): () => void {
  const over = (error: unknown): void => ended(isUnimplemented(error));
  if (runtimeName !== "containerd") {
    return client.stream(
      containerEvents,
      {},
      {
        message: ({ type, containerId }) => (type === CONTAINER_STOPPED_EVENT ? event({ is: "ended", id: containerId }) : undefined),
        ended: over,
      },
    );
  }
  const filters = [TASK_EXIT, TASK_OOM].map((topic) => `namespace=="${CONTAINERD_NAMESPACE}",topic=="${topic}"`);
  return client.stream(
    containerdEvents,
    { filters },
    {
      message: ({ topic, event: any }) => {
        const { containerId, id } = decode(taskExit, any?.value ?? new Uint8Array(0));
        if (topic === TASK_OOM) event({ is: "out-of-memory", id: containerId });
        else if (id === containerId) event({ is: "ended", id });
      },
      ended: over,
    },
  );
}
