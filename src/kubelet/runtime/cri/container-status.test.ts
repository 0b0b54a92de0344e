import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { ContainerStatusMessage } from "./messages/container.ts";
import { runtimeContainer } from "./container-status.ts";

const SECOND = 1_000_000_000n;

function status(parts: Partial<ContainerStatusMessage>): ContainerStatusMessage {
  return {
    id: "c1",
    metadata: { name: "main", attempt: 2 },
    state: 2,
    createdAt: SECOND,
    startedAt: 2n * SECOND,
    finishedAt: 3n * SECOND,
    exitCode: 0,
    image: { image: "docker.io/library/busybox:latest", annotations: [], userSpecifiedImage: "", runtimeHandler: "" },
    imageRef: "docker.io/library/busybox@sha256:1",
    reason: "",
    message: "",
    labels: [],
    annotations: [],
    mounts: [],
    logPath: "",
    ...parts,
  };
}

const over = { is: "exited", startedAtMs: 2_000, finishedAtMs: 3_000 } as const;

for (const { title, given, terminationMessage = "", expected } of [
  { title: "is created", given: { state: 0 }, expected: { is: "created" } },
  { title: "runs", given: { state: 1 }, expected: { is: "running", startedAtMs: 2_000 } },
  { title: "completed", given: { reason: "Completed" }, expected: { ...over, exitCode: 0, reason: "Completed" } },
  { title: "completed without a reason", given: {}, expected: { ...over, exitCode: 0, reason: "Completed" } },
  { title: "failed without a reason", given: { exitCode: 3 }, expected: { ...over, exitCode: 3, reason: "Error" } },
  {
    title: "was OOM-killed",
    given: { exitCode: 137, reason: "OOMKilled" },
    expected: { ...over, exitCode: 137, reason: "OOMKilled" },
  },
  {
    title: "has a termination message",
    given: {},
    terminationMessage: "bye",
    expected: { ...over, exitCode: 0, reason: "Completed", message: "bye" },
  },
  {
    title: "has a termination message beside the runtime's",
    given: { exitCode: 128, reason: "StartError", message: "no such file", startedAt: 0n },
    terminationMessage: "bye",
    expected: { ...over, startedAtMs: 0, exitCode: 128, reason: "StartError", message: "no such file: bye" },
  },
  {
    title: "exited before its runtime noted its start",
    given: { startedAt: 4n * SECOND },
    expected: { ...over, startedAtMs: 3_000, exitCode: 0, reason: "Completed" },
  },
  {
    title: "is unknown to its runtime",
    given: { state: 3, finishedAt: 0n },
    expected: {
      ...over,
      finishedAtMs: 2_000,
      exitCode: 137,
      reason: "ContainerStatusUnknown",
      message: "The container could not be located when the pod was terminated",
    },
  },
] as const satisfies readonly { title: string; given: Partial<ContainerStatusMessage>; terminationMessage?: string; expected: object }[]) {
  test(`runtimeContainer converts a container that ${title}`, () => {
    deepEqual(runtimeContainer(status(given), terminationMessage), {
      id: "c1",
      name: "main",
      attempt: 2,
      image: "docker.io/library/busybox:latest",
      imageId: "docker.io/library/busybox@sha256:1",
      createdAtMs: 1_000,
      state: expected,
    });
  });
}

test("runtimeContainer restores the image name of the Pod spec", () => {
  const annotations = [{ key: "k8ts.io/image", value: "busybox" }];
  deepEqual(runtimeContainer(status({ annotations }), "").requestedImage, "busybox");
});
