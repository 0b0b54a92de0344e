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

/** Statistics oldest first, so that nothing depends on an order. */
function statsOf({ podUid, namespace, name, containers }: SandboxStatus): PodStats {
  return { podUid, namespace, name, containers: containers.map(({ id, name: own }) => ({ id, name: own })).toReversed() };
}

const rows: readonly { readonly title: string; readonly listed: readonly SandboxStatus[]; readonly included: readonly string[] }[] = [
  {
    title: "a restarted container is included once",
    listed: [
      sandbox("u", "a", [
        ["new", "main", RUNNING],
        ["old", "main", EXITED],
      ]),
    ],
    included: ["new"],
  },
  {
    title: "of two running containers of one name the newest is included",
    listed: [
      sandbox("u", "a", [
        ["new", "main", RUNNING],
        ["old", "main", RUNNING],
      ]),
    ],
    included: ["new"],
  },
  {
    title: "while the newest container is only created, the previous one is included if it runs",
    listed: [
      sandbox("u", "a", [
        ["new", "main", CREATED],
        ["old", "main", RUNNING],
      ]),
    ],
    included: ["old"],
  },
  {
    title: "exited init containers are omitted",
    listed: [
      sandbox("u", "a", [
        ["m", "main", RUNNING],
        ["i", "init", EXITED],
      ]),
    ],
    included: ["m"],
  },
  {
    title: "a Pod without running containers is omitted",
    listed: [sandbox("u", "a", [["m", "main", EXITED]]), sandbox("v", "b", [["n", "main", RUNNING]])],
    included: ["n"],
  },
  {
    title: "of two Pods of one name the newer is included",
    listed: [sandbox("v", "a", [["n", "main", RUNNING]], 2), sandbox("u", "a", [["m", "main", RUNNING]], 1)],
    included: ["n"],
  },
  {
    title: "a newer Pod of the same name is included only once it runs",
    listed: [sandbox("v", "a", [["n", "main", CREATED]], 2), sandbox("u", "a", [["m", "main", RUNNING]], 1)],
    included: ["m"],
  },
];

for (const { title, listed, included } of rows)
  test(title, () => {
    const live = liveStats(listed.map(statsOf), listed);
    deepEqual(
      live.map(({ containers }) => containers.map(({ id }) => id).join()),
      included,
    );
  });

test("statistics without a listed container are omitted, and those of the Pod are unchanged", () => {
  const listed = sandbox("u", "a", [["m", "main", RUNNING]]);
  const pod: PodStats = { ...statsOf(listed), cpuNanoseconds: 7, processes: 2 };

  deepEqual(liveStats([pod, { ...pod, podUid: "gone", name: "gone" }], [listed]), [pod]);
});
