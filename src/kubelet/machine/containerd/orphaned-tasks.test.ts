import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { idsToAsk, planOrphans, type SeenTasks } from "./orphaned-tasks.ts";
import type { Bundle, Shim } from "./shims.ts";

const containerd = { pid: 1, started: "1000" };

function shim(id: string, started: number): Shim {
  return { pid: 100 + started, started: String(started), id, namespace: "k8s.io", isStarter: false };
}

function bundle(id: string, group = id): Bundle {
  return { id, group, cgroup: undefined, socket: `/run/s/${group}` };
}

/** Truncated, as when containerd is killed while writing it. */
function half(id: string): Bundle {
  return { id, group: undefined, cgroup: undefined, socket: undefined };
}

function seen(tasks: Partial<SeenTasks>): SeenTasks {
  return { containerd, earlierTasks: [], shims: [], bundles: [], ...tasks };
}

interface Row {
  readonly it: string;
  readonly seen: Partial<SeenTasks>;
  readonly asked: readonly string[];
  /** Absent: all that were queried. */
  readonly taskless?: readonly string[];
  readonly shims?: readonly string[];
  readonly bundles?: readonly string[];
  readonly sockets?: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    it: "an old shim without a task is removed with its directory and its socket",
    seen: { shims: [shim("a", 900)], bundles: [bundle("a")] },
    asked: ["a"],
    shims: ["a"],
    bundles: ["a"],
    sockets: ["/run/s/a"],
  },
  { it: "a shim without a directory is removed", seen: { shims: [shim("a", 900)] }, asked: ["a"], shims: ["a"] },
  { it: "a shim of the tick in which containerd started is old", seen: { shims: [shim("a", 1000)] }, asked: ["a"], shims: ["a"] },
  { it: "ticks are compared as numbers", seen: { shims: [shim("a", 999)] }, asked: ["a"], shims: ["a"] },
  { it: "a shim that containerd itself started is not queried", seen: { shims: [shim("a", 1001)], bundles: [bundle("a")] }, asked: [] },
  { it: "shims of other containerd namespaces are kept", seen: { shims: [{ ...shim("a", 900), namespace: "default" }] }, asked: [] },
  {
    it: "a shim with its task is kept",
    seen: { shims: [shim("a", 900)], bundles: [bundle("a")] },
    asked: ["a"],
    taskless: [],
  },
  {
    it: "a shim whose sandbox has ended is kept for the Pod's containers",
    seen: { shims: [shim("a", 900)], bundles: [bundle("c", "a")] },
    asked: ["a", "c"],
    taskless: ["a"],
  },
  {
    it: "a shim that was started for a container is kept for others of its Pod",
    seen: { shims: [shim("c", 900)], bundles: [bundle("c", "a"), bundle("d", "a")] },
    asked: ["c", "d"],
    taskless: ["c"],
  },
  {
    it: "with a shim all unfinished tasks of its Pod are removed",
    seen: { shims: [shim("a", 900)], bundles: [bundle("a"), bundle("c", "a"), bundle("b")] },
    asked: ["a", "c"],
    shims: ["a"],
    bundles: ["a", "c"],
    sockets: ["/run/s/a"],
  },
  {
    it: "an unfinished container is removed without its Pod",
    seen: { shims: [shim("a", 900)], bundles: [bundle("a"), bundle("c", "a")], earlierTasks: ["a", "c"] },
    asked: ["a", "c"],
    taskless: ["c"],
    bundles: ["c"],
  },
  {
    it: "a directory without a shim is removed if it is older than containerd, also a truncated one",
    seen: { bundles: [bundle("a"), bundle("b"), half("x")], earlierTasks: ["a", "x", "long-gone"] },
    asked: ["a", "x"],
    bundles: ["a", "x"],
    sockets: ["/run/s/a"],
  },
];

describe("orphaned tasks of a killed containerd", () => {
  for (const { it, seen: tasks, asked, taskless = asked, shims = [], bundles = [], sockets = [] } of ROWS) {
    test(it, () => {
      const plan = planOrphans({ ...seen(tasks), taskless: new Set(taskless) });

      deepEqual(idsToAsk(seen(tasks)), asked);
      deepEqual(
        { shims: plan.shims.map(({ id }) => id), bundles: plan.bundles.map(({ id }) => id), sockets: plan.sockets },
        { shims, bundles, sockets },
      );
    });
  }
});
