import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnMemory } from "./pod-state.ts";
import { recall } from "./restore-state.ts";
import type { RuntimeContainer } from "../contracts/runtime.ts";

/** The newest began at 5,000 s. */
const BEGUN_MS = 5_000_000;

interface Row {
  readonly restarts: number;
  /** How long the newest attempt had to wait for its start. */
  readonly waitedMs?: number;
  /** What the status says of a container that waits now. */
  readonly told?: string;
  /** How many starts the status does not know of. */
  readonly untold?: number;
  readonly delayMs: number | undefined;
}

const rows: readonly Row[] = [
  { restarts: 0, delayMs: undefined },
  { restarts: 1, waitedMs: 0, delayMs: 10_000 },
  { restarts: 2, waitedMs: 10_000, delayMs: 20_000 },
  { restarts: 3, waitedMs: 19_300, delayMs: 40_000 },
  { restarts: 9, waitedMs: 300_000, delayMs: 300_000 },
  // It waited for less than it would have had to: it had been well for long.
  { restarts: 9, waitedMs: 0, delayMs: 10_000 },
  { restarts: 9, waitedMs: 20_000, delayMs: 40_000 },
  // It waited for longer, since nobody was there to start it.
  { restarts: 2, waitedMs: 900_000, delayMs: 20_000 },
  { restarts: 4, delayMs: 80_000 },
  { restarts: 50, delayMs: 300_000 },
  { restarts: 7, told: "back-off 2m40s restarting failed container=c pod=p_default(u)", delayMs: 160_000 },
  { restarts: 7, told: "back-off 10s restarting failed container=c pod=p_default(u)", delayMs: 10_000 },
  { restarts: 2, told: "back-off for some time", delayMs: 20_000 },
  // The kubelet was killed after a start, and before it told of it.
  { restarts: 3, untold: 1, told: "back-off 20s restarting failed container=c pod=p_default(u)", delayMs: 40_000 },
  { restarts: 9, untold: 1, told: "back-off 5m0s restarting failed container=c pod=p_default(u)", delayMs: 300_000 },
  { restarts: 1, untold: 1, waitedMs: 0, delayMs: 10_000 },
];

for (const { restarts, untold = 0, waitedMs, told, delayMs } of rows) {
  test(`after ${restarts} restarts (${untold} untold), a wait of ${waitedMs} ms and "${told}" the next restart waits for ${delayMs} ms`, () => {
    const memory = new OwnMemory();
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
    const state = told === undefined ? {} : { waiting: { reason: "CrashLoopBackOff", message: told } };
    const status = { name: "c", image: "web:1", imageID: "i", ready: false, restartCount: restarts - untold, state };
    const sandbox = { id: "s", podUid: "u", namespace: "default", name: "p", state: "ready", createdAtMs: 0, ips: [] } as const;

    recall(memory, {
      pod: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, status: { containerStatuses: [status] } },
      sandbox: { ...sandbox, containers: waitedMs === undefined ? [newest] : [newest, earlier] },
      nowMs: BEGUN_MS,
      isSimulated: true,
    });

    assert.deepEqual(memory.crashes.get("c"), delayMs === undefined ? undefined : { delayMs, updatedAtMs: BEGUN_MS });
  });
}

const CRASHING = "back-off 40s restarting failed container=c pod=p_default(u)";

for (const { title, state, place, placedAtMs = 0, crashMs, endedBefore } of [
  { title: "that crashed before in its place", state: { running: {} }, place: "ready", crashMs: 10_000, endedBefore: [] },
  {
    title: "whose place is newer than what ended",
    state: { running: {} },
    place: "ready",
    placedAtMs: BEGUN_MS,
    crashMs: undefined,
    endedBefore: [],
  },
  { title: "that ended with its place", state: { running: {} }, place: "not-ready", crashMs: undefined, endedBefore: ["2", "1"] },
  {
    title: "that is told to keep ending",
    state: { waiting: { reason: "CrashLoopBackOff", message: CRASHING } },
    place: "ready",
    crashMs: 40_000,
    endedBefore: [],
  },
  {
    title: "that is told to keep ending, and whose place has gone",
    state: { waiting: { reason: "CrashLoopBackOff", message: CRASHING } },
    place: "not-ready",
    crashMs: 40_000,
    endedBefore: [],
  },
] as const) {
  test(`of a real container with seven restarts ${title} a back-off of ${crashMs} ms is recalled`, () => {
    const memory = new OwnMemory();
    const ended = { is: "exited", startedAtMs: 0, finishedAtMs: BEGUN_MS, exitCode: 137, reason: "Error" } as const;
    const facts = { name: "c", image: "web:1", imageId: "i", createdAtMs: BEGUN_MS };
    const newest = place === "ready" ? ({ is: "running", startedAtMs: BEGUN_MS } as const) : ended;
    const status = { name: "c", image: "web:1", imageID: "i", ready: false, restartCount: 7, state };
    const sandbox = { id: "s", podUid: "u", namespace: "default", name: "p", state: place, createdAtMs: placedAtMs, ips: [] } as const;

    recall(memory, {
      pod: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, status: { containerStatuses: [status] } },
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
