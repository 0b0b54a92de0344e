/** What the CRI says of a container, as the kubelet wants it. Pure; the last words come from elsewhere (termination-message.ts). */
import type { RuntimeContainer, RuntimeContainerState } from "../../contracts/runtime.ts";
import { mapOf, millisecondsOf } from "./messages/common.ts";
import { CONTAINER_CREATED, CONTAINER_EXITED, CONTAINER_RUNNING, type ContainerStatusMessage } from "./messages/container.ts";
import { WANTED_IMAGE } from "./labels.ts";

/** As upstream counts what it lost sight of. */
const LOST_EXIT_CODE = 137;
const LOST = "ContainerStatusUnknown";

/** `lastWords`: of one that has ended. */
export function runtimeContainer(status: ContainerStatusMessage, lastWords: string): RuntimeContainer {
  const requestedImage = mapOf(status.annotations).get(WANTED_IMAGE);
  return {
    id: status.id,
    name: status.metadata?.name ?? "",
    attempt: status.metadata?.attempt ?? 0,
    image: status.image?.image ?? "",
    ...(requestedImage === undefined ? {} : { requestedImage }),
    imageId: status.imageRef,
    createdAtMs: millisecondsOf(status.createdAt),
    state: stateOf(status, lastWords),
  };
}

function stateOf(status: ContainerStatusMessage, lastWords: string): RuntimeContainerState {
  const startedAtMs = millisecondsOf(status.startedAt);
  switch (status.state) {
    case CONTAINER_CREATED:
      return { is: "created" };
    case CONTAINER_RUNNING:
      return { is: "running", startedAtMs };
    case CONTAINER_EXITED: {
      const { exitCode, reason } = status;
      const message = [status.message, lastWords].filter((words) => words !== "").join(": ");
      const finishedAtMs = millisecondsOf(status.finishedAt);
      return {
        is: "exited",
        // containerd notes the start when it hears of it: a short program has ended by then.
        startedAtMs: Math.min(startedAtMs, finishedAtMs),
        finishedAtMs,
        exitCode,
        reason: reason !== "" ? reason : exitCode === 0 ? "Completed" : "Error",
        ...(message === "" ? {} : { message }),
      };
    }
    default:
      // The runtime has lost sight of it; for the Pod it has ended, and can be begun anew.
      return {
        is: "exited",
        startedAtMs,
        finishedAtMs: Math.max(startedAtMs, millisecondsOf(status.finishedAt)),
        exitCode: LOST_EXIT_CODE,
        reason: LOST,
        message: "The container could not be located when the pod was terminated",
      };
  }
}
