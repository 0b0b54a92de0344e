import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { PodStats, RuntimeContainer, RuntimeContainerState, SandboxStatus } from "../../contracts/runtime.ts";
import { liveStats } from "./live-statistics.ts";

const RUNNING: RuntimeContainerState = { is: "running", startedAtMs: 1 };
const EXITED: RuntimeContainerState = { is: "exited", startedAtMs: 1, finishedAtMs: 2, exitCode: 0, reason: "Completed" };
const CREATED: RuntimeContainerState = { is: "created" };

type Named = readonly [id: string, name: string, state: RuntimeContainerState];

/** Containers newest first, as a runtime lists them. */
function sandbox(podUid: string, name: string, containers: readonly Named[], createdAtMs = 0): SandboxStatus {
  const listed = containers.map(([id, container, state]): RuntimeContainer => ({
    id,
    name: container,
    attempt: 0,
    image: "",
    imageId: "",
    createdAtMs: 0,
    state,
  }));
  return { id: `s-${podUid}`, podUid, namespace: "default", name, state: "ready", createdAtMs, ips: [], containers: listed };
}

/** Counted oldest first, so that nothing depends on an order. */
function statsOf({ podUid, namespace, name, containers }: SandboxStatus): PodStats {
  return { podUid, namespace, name, containers: containers.map(({ id, name: own }) => ({ id, name: own })).toReversed() };
}

const rows: readonly { readonly title: string; readonly listed: readonly SandboxStatus[]; readonly told: readonly string[] }[] = [
  {
    title: "a container that was restarted is told of once",
    listed: [
      sandbox("u", "a", [
        ["new", "main", RUNNING],
        ["old", "main", EXITED],
      ]),
    ],
    told: ["new"],
  },
  {
    title: "of two that run under one name the newest counts",
    listed: [
      sandbox("u", "a", [
        ["new", "main", RUNNING],
        ["old", "main", RUNNING],
      ]),
    ],
    told: ["new"],
  },
  {
    title: "while the newest is only made, the one before it counts if it runs",
    listed: [
      sandbox("u", "a", [
        ["new", "main", CREATED],
        ["old", "main", RUNNING],
      ]),
    ],
    told: ["old"],
  },
  {
    title: "init containers that have ended are not told of",
    listed: [
      sandbox("u", "a", [
        ["m", "main", RUNNING],
        ["i", "init", EXITED],
      ]),
    ],
    told: ["m"],
  },
  {
    title: "a Pod of which nothing runs is not told of",
    listed: [sandbox("u", "a", [["m", "main", EXITED]]), sandbox("v", "b", [["n", "main", RUNNING]])],
    told: ["n"],
  },
  {
    title: "of two Pods of one name the newer counts",
    listed: [sandbox("v", "a", [["n", "main", RUNNING]], 2), sandbox("u", "a", [["m", "main", RUNNING]], 1)],
    told: ["n"],
  },
  {
    title: "a newer Pod of the same name counts only once it runs",
    listed: [sandbox("v", "a", [["n", "main", CREATED]], 2), sandbox("u", "a", [["m", "main", RUNNING]], 1)],
    told: ["m"],
  },
];

for (const { title, listed, told } of rows)
  test(title, () => {
    const live = liveStats(listed.map(statsOf), listed);
    deepEqual(
      live.map(({ containers }) => containers.map(({ id }) => id).join()),
      told,
    );
  });

test("what is counted and not listed any more is not told of, and the numbers of a Pod stay as they are", () => {
  const listed = sandbox("u", "a", [["m", "main", RUNNING]]);
  const pod: PodStats = { ...statsOf(listed), cpuNanoseconds: 7, processes: 2 };

  deepEqual(liveStats([pod, { ...pod, podUid: "gone", name: "gone" }], [listed]), [pod]);
});
