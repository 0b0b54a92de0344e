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

for (const { title, given, lastWords = "", expected } of [
  { title: "is made", given: { state: 0 }, expected: { is: "created" } },
  { title: "runs", given: { state: 1 }, expected: { is: "running", startedAtMs: 2_000 } },
  { title: "has completed", given: { reason: "Completed" }, expected: { ...over, exitCode: 0, reason: "Completed" } },
  { title: "has completed and says no reason", given: {}, expected: { ...over, exitCode: 0, reason: "Completed" } },
  { title: "has failed and says no reason", given: { exitCode: 3 }, expected: { ...over, exitCode: 3, reason: "Error" } },
  {
    title: "took too much memory",
    given: { exitCode: 137, reason: "OOMKilled" },
    expected: { ...over, exitCode: 137, reason: "OOMKilled" },
  },
  { title: "left words", given: {}, lastWords: "bye", expected: { ...over, exitCode: 0, reason: "Completed", message: "bye" } },
  {
    title: "left words beside the runtime's",
    given: { exitCode: 128, reason: "StartError", message: "no such file", startedAt: 0n },
    lastWords: "bye",
    expected: { ...over, startedAtMs: 0, exitCode: 128, reason: "StartError", message: "no such file: bye" },
  },
  {
    title: "ended before its runtime noted its start",
    given: { startedAt: 4n * SECOND },
    expected: { ...over, startedAtMs: 3_000, exitCode: 0, reason: "Completed" },
  },
  {
    title: "is lost to its runtime",
    given: { state: 3, finishedAt: 0n },
    expected: {
      ...over,
      finishedAtMs: 2_000,
      exitCode: 137,
      reason: "ContainerStatusUnknown",
      message: "The container could not be located when the pod was terminated",
    },
  },
] as const satisfies readonly { title: string; given: Partial<ContainerStatusMessage>; lastWords?: string; expected: object }[]) {
  test(`what the runtime says of a container that ${title} is told on`, () => {
    deepEqual(runtimeContainer(status(given), lastWords), {
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

test("what a Pod calls its image is known again", () => {
  const annotations = [{ key: "k8ts.io/image", value: "busybox" }];
  deepEqual(runtimeContainer(status({ annotations }), "").requestedImage, "busybox");
});
