/** Pods of the simulated runtime for tests, and their status as a kubelet would report it: with whole seconds, and nothing else. */
import type { ContainerStatus, Pod, PodStatus } from "../../../../api/generated/core/v1.ts";
import { formatTime } from "../../../../api/machinery/time.ts";
import type { JsonObject } from "../../../../api/machinery/object.ts";
import type { Runtime, RuntimeContainer, SandboxStatus } from "../../../contracts/runtime.ts";
import { ANNOTATION_PREFIX } from "../pod-script.ts";

export interface SimulatedPodParts {
  /** Without their prefix. */
  readonly says?: Readonly<Record<string, string>>;
  readonly metadata?: JsonObject;
  /** Default: one container, "main", of the image "app:1". */
  readonly spec?: JsonObject;
}

export function simulatedPod(name: string, { says = {}, metadata, spec }: SimulatedPodParts = {}): Pod {
  const annotations = Object.fromEntries(Object.entries(says).map(([key, value]) => [`${ANNOTATION_PREFIX}${key}`, value]));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: `uid-of-${name}`, annotations, ...metadata },
    spec: { containers: [{ name: "main", image: "app:1" }], ...spec },
  };
  return pod as Pod;
}

/** Runs a sandbox and the first attempt of a container; resolves with the container's id. */
export async function run(runtime: Runtime, pod: Pod, { attempt = 0, name = "main" } = {}): Promise<string> {
  const container = [...(pod.spec!.initContainers ?? []), ...pod.spec!.containers].find((candidate) => candidate.name === name)!;
  const sandbox = await runtime.runSandbox(pod);
  const imageId = await runtime.pullImage(container.image!, pod);
  const id = await runtime.createContainer(sandbox.id, { pod, container, attempt, imageId });
  await runtime.startContainer(id);
  return id;
}

export async function containerIn(runtime: Runtime, pod: Pod): Promise<RuntimeContainer> {
  return (await runtime.status(pod.metadata.uid!))!.containers[0]!;
}

/** The Pod with the status that a kubelet would have written by now. */
export function reported(pod: Pod, sandbox: SandboxStatus | undefined): Pod {
  if (sandbox === undefined) return pod;
  const names = [...new Set(sandbox.containers.map(({ name }) => name))].toReversed();
  const containerStatuses = names.map((name) => containerStatus(sandbox.containers.filter((container) => container.name === name)));
  const status: PodStatus = {
    phase: sandbox.state === "ready" ? "Running" : "Failed",
    startTime: formatTime(sandbox.createdAtMs),
    podIPs: sandbox.ips.map((ip) => ({ ip })),
    containerStatuses,
  };
  return { ...pod, status };
}

function containerStatus([current, previous]: readonly RuntimeContainer[]): ContainerStatus {
  const { name, image, imageId, attempt, id, ready = false } = current!;
  return {
    name,
    image,
    imageID: imageId,
    restartCount: attempt,
    ready,
    state: containerState(current!),
    ...(previous !== undefined && { lastState: containerState(previous) }),
    containerID: `simulated://${id}`,
  };
}

function containerState({ state, id }: RuntimeContainer): NonNullable<ContainerStatus["state"]> {
  switch (state.is) {
    case "created":
      return { waiting: { reason: "ContainerCreating" } };
    case "running":
      return { running: { startedAt: formatTime(state.startedAtMs) } };
    case "exited": {
      const { startedAtMs, finishedAtMs, is: _, ...ended } = state;
      const timestamps = { startedAt: formatTime(startedAtMs), finishedAt: formatTime(finishedAtMs) };
      return { terminated: { ...ended, ...timestamps, containerID: `simulated://${id}` } };
    }
  }
}
