/** Converts a CRI container status to the kubelet's. Pure; termination messages come from elsewhere (termination-message.ts). */
import type { RuntimeContainer, RuntimeContainerState } from "../../contracts/runtime.ts";
import { mapOf, millisecondsOf } from "./messages/common.ts";
import { CONTAINER_CREATED, CONTAINER_EXITED, CONTAINER_RUNNING, type ContainerStatusMessage } from "./messages/container.ts";
import { WANTED_IMAGE } from "./labels.ts";

/** Exit code of a lost container, as upstream. */
const LOST_EXIT_CODE = 137;
const LOST = "ContainerStatusUnknown";

/** `terminationMessage`: only for an exited container. */
export function runtimeContainer(status: ContainerStatusMessage, terminationMessage: string): RuntimeContainer {
  const requestedImage = mapOf(status.annotations).get(WANTED_IMAGE);
  return {
    id: status.id,
    name: status.metadata?.name ?? "",
    attempt: status.metadata?.attempt ?? 0,
    image: status.image?.image ?? "",
    ...(requestedImage === undefined ? {} : { requestedImage }),
    imageId: status.imageRef,
    createdAtMs: millisecondsOf(status.createdAt),
    state: stateOf(status, terminationMessage),
  };
}

function stateOf(status: ContainerStatusMessage, terminationMessage: string): RuntimeContainerState {
  const startedAtMs = millisecondsOf(status.startedAt);
  switch (status.state) {
    case CONTAINER_CREATED:
      return { is: "created" };
    case CONTAINER_RUNNING:
      return { is: "running", startedAtMs };
    case CONTAINER_EXITED: {
      const { exitCode, reason } = status;
      const message = [status.message, terminationMessage].filter((text) => text !== "").join(": ");
      const finishedAtMs = millisecondsOf(status.finishedAt);
      return {
        is: "exited",
        // containerd notes the start when it is notified of it: a short program has exited by then.
        startedAtMs: Math.min(startedAtMs, finishedAtMs),
        finishedAtMs,
        exitCode,
        reason: reason !== "" ? reason : exitCode === 0 ? "Completed" : "Error",
        ...(message === "" ? {} : { message }),
      };
    }
    default:
      // The runtime lost track of it; for the Pod it has exited and can be restarted.
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
