import assert from "node:assert/strict";
import { test } from "node:test";
import { restartBackOff } from "./containers/back-off.ts";
import { PodWorkerMemory } from "./pod-state.ts";
import { restoreState } from "./restore-state.ts";
import type { RuntimeContainer } from "../contracts/runtime.ts";
import { buildPod } from "../../api/testing/pod.ts";

/** The newest attempt started at 5,000 s. */
const BEGUN_MS = 5_000_000;

interface Row {
  readonly restarts: number;
  /** How long the newest attempt had waited for its start. */
  readonly waitedMs?: number;
  /** Message of the container's waiting state. */
  readonly reported?: string;
  /** Number of starts that the status does not report. */
  readonly unreported?: number;
  readonly delayMs: number | undefined;
}

const rows: readonly Row[] = [
  { restarts: 0, delayMs: undefined },
  { restarts: 1, waitedMs: 0, delayMs: 10_000 },
  { restarts: 2, waitedMs: 10_000, delayMs: 20_000 },
  { restarts: 3, waitedMs: 19_300, delayMs: 40_000 },
  { restarts: 9, waitedMs: 300_000, delayMs: 300_000 },
  // It waited for less than its back-off: the back-off had been reset.
  { restarts: 9, waitedMs: 0, delayMs: 10_000 },
  { restarts: 9, waitedMs: 20_000, delayMs: 40_000 },
  // It waited for longer, because no kubelet was running.
  { restarts: 2, waitedMs: 900_000, delayMs: 20_000 },
  { restarts: 4, delayMs: 80_000 },
  { restarts: 50, delayMs: 300_000 },
  { restarts: 7, reported: "back-off 2m40s restarting failed container=c pod=p_default(u)", delayMs: 160_000 },
  { restarts: 7, reported: "back-off 10s restarting failed container=c pod=p_default(u)", delayMs: 10_000 },
  { restarts: 2, reported: "back-off for some time", delayMs: 20_000 },
  // The kubelet was killed after a start and before reporting it.
  { restarts: 3, unreported: 1, reported: "back-off 20s restarting failed container=c pod=p_default(u)", delayMs: 40_000 },
  { restarts: 9, unreported: 1, reported: "back-off 5m0s restarting failed container=c pod=p_default(u)", delayMs: 300_000 },
  { restarts: 1, unreported: 1, waitedMs: 0, delayMs: 10_000 },
];

for (const { restarts, unreported = 0, waitedMs, reported, delayMs } of rows) {
  test(`after ${restarts} restarts (${unreported} unreported), a wait of ${waitedMs} ms and "${reported}" the next restart waits for ${delayMs} ms`, () => {
    const memory = new PodWorkerMemory();
    const facts = { name: "c", image: "web:1", imageId: "i" };
    const newest: RuntimeContainer = {
      ...facts,
      id: "2",
      attempt: restarts,
      createdAtMs: BEGUN_MS,
      state: { is: "running", startedAtMs: BEGUN_MS },
    };
    const ended = { is: "exited", startedAtMs: 0, finishedAtMs: BEGUN_MS - (waitedMs ?? 0), exitCode: 1, reason: "Error" } as const;
    const earlier = { ...facts, id: "1", attempt: restarts - 1, createdAtMs: 0, state: ended };
    const state = reported === undefined ? {} : { waiting: { reason: "CrashLoopBackOff", message: reported } };
    const status = { name: "c", image: "web:1", imageID: "i", ready: false, restartCount: restarts - unreported, state };
    const sandbox = { id: "s", podUid: "u", namespace: "default", name: "p", state: "ready", createdAtMs: 0, ips: [] } as const;

    restoreState(memory, {
      pod: buildPod({ metadata: { name: "p" }, status: { containerStatuses: [status] } }),
      sandbox: { ...sandbox, containers: waitedMs === undefined ? [newest] : [newest, earlier] },
      nowMs: BEGUN_MS,
      isSimulated: true,
    });

    const restored = restartBackOff(memory.crashes, { name: "c", image: "i" });
    assert.deepEqual([restored?.delayMs, restored?.updatedAtMs], [delayMs, delayMs === undefined ? undefined : BEGUN_MS]);
  });
}

const CRASHING = "back-off 40s restarting failed container=c pod=p_default(u)";

for (const { title, state, place, placedAtMs = 0, crashMs, endedBefore } of [
  { title: "that crashed before in its sandbox", state: { running: {} }, place: "ready", crashMs: 10_000, endedBefore: [] },
  {
    title: "whose sandbox is newer than its exited attempts",
    state: { running: {} },
    place: "ready",
    placedAtMs: BEGUN_MS,
    crashMs: undefined,
    endedBefore: [],
  },
  { title: "that exited with its sandbox", state: { running: {} }, place: "not-ready", crashMs: undefined, endedBefore: ["2", "1"] },
  {
    title: "that is reported in CrashLoopBackOff",
    state: { waiting: { reason: "CrashLoopBackOff", message: CRASHING } },
    place: "ready",
    crashMs: 40_000,
    endedBefore: [],
  },
  {
    title: "that is reported in CrashLoopBackOff and whose sandbox is lost",
    state: { waiting: { reason: "CrashLoopBackOff", message: CRASHING } },
    place: "not-ready",
    crashMs: 40_000,
    endedBefore: [],
  },
] as const) {
  test(`for a real container with seven restarts ${title} a back-off of ${crashMs} ms is restored`, () => {
    const memory = new PodWorkerMemory();
    const ended = { is: "exited", startedAtMs: 0, finishedAtMs: BEGUN_MS, exitCode: 137, reason: "Error" } as const;
    const facts = { name: "c", image: "web:1", imageId: "i", createdAtMs: BEGUN_MS };
    const newest = place === "ready" ? ({ is: "running", startedAtMs: BEGUN_MS } as const) : ended;
    const status = { name: "c", image: "web:1", imageID: "i", ready: false, restartCount: 7, state };
    const sandbox = { id: "s", podUid: "u", namespace: "default", name: "p", state: place, createdAtMs: placedAtMs, ips: [] } as const;

    restoreState(memory, {
      pod: buildPod({ metadata: { name: "p" }, status: { containerStatuses: [status] } }),
      sandbox: {
        ...sandbox,
        containers: [
          { ...facts, id: "2", attempt: 7, state: newest },
          { ...facts, id: "1", attempt: 6, createdAtMs: BEGUN_MS - 1, state: ended },
        ],
      },
      nowMs: BEGUN_MS,
    });

    assert.deepEqual([memory.crashes.get("c")?.delayMs, [...memory.endedBefore]], [crashMs, endedBefore]);
  });
}

for (const { reported, expected } of [
  { reported: { reason: "ImagePullBackOff", message: 'Back-off pulling image "data:1": ErrImagePull: gone' }, expected: [[], ["data:1"]] },
  { reported: { reason: "ImagePullBackOff", message: 'Back-off pulling image "web:1": ErrImagePull: gone' }, expected: [["web:1"], []] },
  // It may be that of the volume or of the container.
  { reported: { reason: "ErrImagePull", message: "gone" }, expected: [[], []] },
]) {
  test(`the image that "${reported.message}" is about is restored, of the container or of a volume`, () => {
    const memory = new PodWorkerMemory();
    const status = { name: "c", image: "web:1", imageID: "", ready: false, restartCount: 0, state: { waiting: reported } };
    const spec = { containers: [{ name: "c", image: "web:1" }], volumes: [{ name: "v", image: { reference: "data:1" } }] };

    restoreState(memory, {
      pod: buildPod({ metadata: { name: "p" }, spec, status: { containerStatuses: [status] } }),
      sandbox: undefined,
      nowMs: BEGUN_MS,
    });

    assert.deepEqual([[...memory.pulls.keys()], [...memory.volumeImages.keys()]], expected);
  });
}
