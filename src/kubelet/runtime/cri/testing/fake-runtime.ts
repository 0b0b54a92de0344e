/** A fake runtime with one Pod of one container: it returns the state that the test sets, and emits events. */
import { encode } from "../../../../base/protobuf/messages.ts";
import { CONTAINER_EXITED, containerStatus, listContainers, type ContainerStatusMessage } from "../messages/container.ts";
import type { CriClient, CriStreamHandlers } from "../cri-client.ts";
import { taskExit, type containerdEvents } from "../messages/event.ts";
import { OWNER, POD_UID } from "../labels.ts";
import { listPodSandbox } from "../messages/sandbox.ts";
import { stub } from "../../../../base/testing/stub.ts";

export const FAKE_OWNER = "o";
export const FAKE_UID = "11111111-2222-3333-4444-555555555555";
export const FAKE_ID = "c1";

const labels = [
  { key: OWNER, value: FAKE_OWNER },
  { key: POD_UID, value: FAKE_UID },
];

/** Exited with 0, at the epoch. */
const EXITED: ContainerStatusMessage = {
  ...{ id: FAKE_ID, metadata: { name: "main", attempt: 0 }, state: CONTAINER_EXITED, labels, annotations: [], mounts: [] },
  ...{ createdAt: 0n, startedAt: 0n, finishedAt: 0n, exitCode: 0, reason: "", message: "", imageRef: "", logPath: "" },
  image: { image: "busybox", annotations: [], userSpecifiedImage: "", runtimeHandler: "" },
};

const SANDBOX = { id: "s1", state: 1, createdAt: 0n, metadata: { attempt: 0, name: "web", namespace: "default", uid: FAKE_UID }, labels };

export function fakeRuntime(parts: Partial<ContainerStatusMessage>) {
  let status = { ...EXITED, ...parts };
  let handlers: CriStreamHandlers<typeof containerdEvents> | undefined;
  let requests = 0;
  const answers: Readonly<Record<string, () => object>> = {
    [listPodSandbox.path]: () => ({ items: [SANDBOX] }),
    [listContainers.path]: () => ({ containers: [status] }),
    [containerStatus.path]: () => {
      requests += 1;
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
    /** Number of status requests of the container. */
    statusRequests: (): number => requests,
    setStatus: (changed: Partial<ContainerStatusMessage>): void => void (status = { ...status, ...changed }),
    emit: (topic: string): void => handlers?.message({ topic, event: { value: encode(taskExit, { containerId: FAKE_ID, id: FAKE_ID }) } }),
  };
}
