import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ContainerStatus, Pod } from "../../api/generated/core/v1.ts";
import { logBytes, loggedContainer, runtimeLogOptions } from "./container-logs.ts";
import type { LogLine } from "../contracts/runtime.ts";
import { buildPod } from "../../api/testing/pod.ts";

function podWith(status: Partial<ContainerStatus>, list: "containerStatuses" | "initContainerStatuses" = "containerStatuses"): Pod {
  const whole: ContainerStatus = { name: "main", image: "", imageID: "", ready: false, restartCount: 0, ...status };
  return buildPod({ metadata: { name: "web", namespace: "default" }, status: { [list]: [whole] } });
}

const RUNNING = { startedAt: "2026-01-01T00:00:00Z" };
const ended = (containerID?: string) => ({ exitCode: 1, ...(containerID === undefined ? {} : { containerID }) });

for (const { title, pod, previous = false, expected } of [
  {
    title: "the log of a running container",
    pod: podWith({ state: { running: RUNNING }, containerID: "containerd://b", lastState: { terminated: ended("containerd://a") } }),
    expected: { id: "b" },
  },
  {
    title: "the log of the previous container, if requested",
    pod: podWith({ state: { running: RUNNING }, containerID: "containerd://b", lastState: { terminated: ended("containerd://a") } }),
    previous: true,
    expected: { id: "a" },
  },
  {
    title: "no previous log before the first restart",
    pod: podWith({ state: { running: RUNNING }, containerID: "containerd://b" }),
    previous: true,
    expected: { message: 'previous terminated container "main" in pod "web" not found' },
  },
  { title: "the log of a terminated container", pod: podWith({ state: { terminated: ended("containerd://b") } }), expected: { id: "b" } },
  {
    title: "the previous log of a container that terminated before it was created",
    pod: podWith({ state: { terminated: ended() }, lastState: { terminated: ended("containerd://a") } }),
    expected: { id: "a" },
  },
  {
    title: "no log of a container that terminated before it was created",
    pod: podWith({ state: { terminated: ended() } }),
    expected: { message: 'container "main" in pod "web" is terminated' },
  },
  {
    title: "the previous log of a container that waits for its restart",
    pod: podWith({ state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: ended("containerd://a") } }),
    expected: { id: "a" },
  },
  {
    title: "no previous log if its container id is unknown",
    pod: podWith({ state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: ended() } }),
    expected: { message: 'container "main" in pod "web" is terminated' },
  },
  ...[
    ["ContainerCreating", "ContainerCreating"],
    ["PodInitializing", "PodInitializing"],
    ["ErrImagePull", "image can't be pulled"],
    ["ImagePullBackOff", "trying and failing to pull image"],
  ].map(([reason = "", words]) => ({
    title: `no log of a container that waits for ${reason}`,
    pod: podWith({ state: { waiting: { reason } } }),
    expected: { message: `container "main" in pod "web" is waiting to start: ${words}` },
  })),
  {
    title: "the log of an init container",
    pod: podWith({ state: { terminated: ended("containerd://i") } }, "initContainerStatuses"),
    expected: { id: "i" },
  },
  {
    title: "no log of a container without a status",
    pod: podWith({ name: "other" }),
    expected: { message: 'container "main" in pod "web" is not available' },
  },
]) {
  test(`pods/log selects ${title}`, () => {
    const { is: _, ...found } = loggedContainer(pod, "main", { previous });

    deepEqual(found, expected);
  });
}

for (const { asked, expected } of [
  { asked: {}, expected: { follow: false } },
  { asked: { follow: true, tailLines: 0 }, expected: { follow: true, tailLines: 0 } },
  { asked: { sinceSeconds: 10 }, expected: { follow: false, sinceMs: 90_000 } },
  { asked: { sinceTime: "1970-01-01T00:01:00Z" }, expected: { follow: false, sinceMs: 60_000 } },
  // As decoded from a number beyond 2^53.
  { asked: { tailLines: (2n ** 60n) as unknown as number }, expected: { follow: false, tailLines: 2 ** 60 } },
]) {
  test(`at second 100 the runtime receives ${JSON.stringify(expected)} if a client requests ${Object.keys(asked).join(", ") || "nothing"}`, () => {
    deepEqual(runtimeLogOptions(asked, 100_000), expected);
  });
}

async function* linesOf(...texts: readonly string[]): AsyncGenerator<LogLine> {
  for (const [index, text] of texts.entries()) yield { atMs: index * 1_001, stream: "stdout", text };
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text;
}

for (const { title, options, expected } of [
  { title: "each with its line break", options: {}, expected: "one\ntwo\nthree\n" },
  {
    title: "with the timestamp of each, to nine digits",
    options: { timestamps: true },
    expected: "1970-01-01T00:00:00.000000000Z one\n1970-01-01T00:00:01.001000000Z two\n1970-01-01T00:00:02.002000000Z three\n",
  },
  { title: "cut within a line", options: { limitBytes: 5 }, expected: "one\nt" },
  { title: "cut at the end of a line", options: { limitBytes: 4 }, expected: "one\n" },
  {
    title: "completely if there are fewer bytes than requested",
    options: { limitBytes: (2n ** 60n) as unknown as number },
    expected: "one\ntwo\nthree\n",
  },
]) {
  test(`lines are written ${title}`, async () => {
    equal(await textOf(logBytes(linesOf("one", "two", "three"), options)), expected);
  });
}

test("the log ends with the last requested byte, even if no further line arrives", async () => {
  async function* waiting(): AsyncGenerator<LogLine> {
    yield { atMs: 0, stream: "stdout", text: "one" };
    await new Promise(() => undefined);
  }

  equal(await textOf(logBytes(waiting(), { limitBytes: 4 })), "one\n");
});

test("a line that was written in parts is one line, with the timestamp of its first part, to nine digits", async () => {
  async function* parts(): AsyncGenerator<LogLine> {
    yield { atMs: 0, time: "2026-01-01T00:00:00.12Z", stream: "stdout", text: "one ", isPartial: true };
    yield { atMs: 0, time: "2026-01-01T00:00:00.13Z", stream: "stdout", text: "line" };
    yield { atMs: 0, time: "2026-01-01T00:00:01+02:00", stream: "stderr", text: "" };
    yield { atMs: 0, time: "2026-01-01T00:00:02.123456789Z", stream: "stdout", text: "end" };
  }

  equal(
    await textOf(logBytes(parts(), { timestamps: true })),
    "2026-01-01T00:00:00.120000000Z one line\n2026-01-01T00:00:01.000000000+02:00 \n2026-01-01T00:00:02.123456789Z end\n",
  );
  equal(await textOf(logBytes(parts(), {})), "one line\n\nend\n");
});
