/** A runtime that is played, of one Pod with one container: it says of that whatever it is told to say, and tells of events. */
import { encode } from "../../../../base/protobuf/messages.ts";
import { CONTAINER_EXITED, containerStatus, listContainers, type ContainerStatusMessage } from "../messages/container.ts";
import type { CriClient, CriStreamHandlers } from "../cri-client.ts";
import { taskExit, type containerdEvents } from "../messages/event.ts";
import { OWNER, POD_UID } from "../labels.ts";
import { listPodSandbox } from "../messages/sandbox.ts";
import { stub } from "../../../../base/testing/stub.ts";

export const PLAYED_OWNER = "o";
export const PLAYED_UID = "11111111-2222-3333-4444-555555555555";
export const PLAYED_ID = "c1";

const labels = [
  { key: OWNER, value: PLAYED_OWNER },
  { key: POD_UID, value: PLAYED_UID },
];

/** Has ended with 0, at the start of time. */
const ENDED: ContainerStatusMessage = {
  ...{ id: PLAYED_ID, metadata: { name: "main", attempt: 0 }, state: CONTAINER_EXITED, labels, annotations: [], mounts: [] },
  ...{ createdAt: 0n, startedAt: 0n, finishedAt: 0n, exitCode: 0, reason: "", message: "", imageRef: "", logPath: "" },
  image: { image: "busybox", annotations: [], userSpecifiedImage: "", runtimeHandler: "" },
};

const SANDBOX = { id: "s1", state: 1, createdAt: 0n, metadata: { attempt: 0, name: "web", namespace: "default", uid: PLAYED_UID }, labels };

export function playRuntime(parts: Partial<ContainerStatusMessage>) {
  let status = { ...ENDED, ...parts };
  let handlers: CriStreamHandlers<typeof containerdEvents> | undefined;
  let looks = 0;
  const answers: Readonly<Record<string, () => object>> = {
    [listPodSandbox.path]: () => ({ items: [SANDBOX] }),
    [listContainers.path]: () => ({ containers: [status] }),
    [containerStatus.path]: () => {
      looks += 1;
      return { status };
    },
  };
  const client = stub<CriClient>({
    call: ({ path }: { readonly path: string }) => Promise.resolve(answers[path]?.() ?? {}),
    stream(_method: unknown, _request: unknown, given: CriStreamHandlers<typeof containerdEvents>) {
      handlers = given;
      return () => undefined;
    },
  });
  return {
    client,
    /** How often somebody looked at the container. */
    looks: (): number => looks,
    becomes: (changed: Partial<ContainerStatusMessage>): void => void (status = { ...status, ...changed }),
    tells: (topic: string): void =>
      handlers?.message({ topic, event: { value: encode(taskExit, { containerId: PLAYED_ID, id: PLAYED_ID }) } }),
  };
}
