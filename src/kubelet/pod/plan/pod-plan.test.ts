import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { PodWorkerMemory } from "../pod-state.ts";
import { planPod } from "./pod-plan.ts";
import type { PodAction, PodView } from "./plan-contract.ts";
import { RuntimeError, type SandboxStatus } from "../../contracts/runtime.ts";
import { container, CREATED, exited, running, sandbox } from "../../testing/sandboxes.ts";
import { buildPod } from "../../../api/testing/pod.ts";

const INIT = { name: "init", image: "i:1" };
const SIDECAR = { name: "side", image: "i:1", restartPolicy: "Always" as const };
const REGULAR = { name: "c", image: "i:1" };

const FORGOTTEN = { restartCount: 0, ready: false, image: "i:1", imageID: "" };

function pod(spec: Partial<NonNullable<Pod["spec"]>> = {}, more: Partial<Pod> = {}): Pod {
  return buildPod({ spec: { containers: [REGULAR], ...spec }, ...more, metadata: { uid: "u", ...more.metadata } });
}

const DELETED = { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 };

/** "start c#1", "stop a,b > side (5000)". */
function words(action: PodAction): string {
  switch (action.do) {
    case "start-container":
      return `start ${action.container.name}#${action.attempt}`;
    case "stop-containers":
      return `stop ${action.groups.map((group) => group.map(({ name }) => name).join(",")).join(" > ")} (${action.graceMs})`;
    case "remove-container":
      return `remove ${action.id}`;
    default:
      return action.do;
  }
}

function planOf(view: Partial<PodView>) {
  return planPod({ pod: pod(), isOrphaned: false, sandbox: undefined, memory: new PodWorkerMemory(), nowMs: 0, ...view });
}

interface Row {
  readonly it: string;
  readonly pod: Pod;
  readonly sandbox?: SandboxStatus;
  readonly isGone?: boolean;
  readonly plan: readonly string[];
  readonly isOver?: boolean;
}

const rows: readonly Row[] = [
  { it: "a new Pod gets its sandbox and all containers", pod: pod(), plan: ["run-sandbox", "start c#0"] },
  {
    it: "a new Pod with init containers gets only the first",
    pod: pod({ initContainers: [INIT, SIDECAR] }),
    plan: ["run-sandbox", "start init#0"],
  },
  { it: "a running container is left alone", pod: pod(), sandbox: sandbox([container("c", running())]), plan: [] },
  {
    it: "a container that was created and never started is started",
    pod: pod(),
    sandbox: sandbox([container("c", CREATED)]),
    plan: ["start c#0"],
  },
  { it: "a container that has exited is restarted", pod: pod(), sandbox: sandbox([container("c", exited(0))]), plan: ["start c#1"] },
  {
    it: "only the newest exited containers are kept",
    pod: pod(),
    sandbox: sandbox([2, 1, 0].map((attempt) => container("c", exited(1), { attempt }))),
    plan: ["remove c-1", "remove c-0", "start c#3"],
  },
  {
    it: "success terminates a Pod with restartPolicy OnFailure",
    pod: pod({ restartPolicy: "OnFailure" }),
    sandbox: sandbox([container("c", exited(0))]),
    plan: ["stop-sandbox"],
    isOver: true,
  },
  {
    it: "failure does not terminate a Pod with restartPolicy OnFailure",
    pod: pod({ restartPolicy: "OnFailure" }),
    sandbox: sandbox([container("c", exited(1))]),
    plan: ["start c#1"],
  },
  {
    it: "a restart rule of the container takes precedence over the Pod's policy",
    pod: pod({
      restartPolicy: "Never",
      containers: [
        { ...REGULAR, restartPolicy: "Never", restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }] },
      ],
    }),
    sandbox: sandbox([container("c", exited(42))]),
    plan: ["start c#1"],
  },
  {
    it: "one of two containers that exited for good does not terminate the Pod",
    pod: pod({ restartPolicy: "Never", containers: [REGULAR, { name: "d", image: "i:1" }] }),
    sandbox: sandbox([container("c", exited(0)), container("d", running())]),
    plan: [],
  },
  {
    it: "regular containers wait for a running init container",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", running())]),
    plan: [],
  },
  {
    it: "regular containers start after the init container succeeded",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(0))]),
    plan: ["start c#0"],
  },
  {
    it: "a failed init container is restarted",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(1))]),
    plan: ["start init#1"],
  },
  {
    it: "a failed init container that may not be restarted terminates the Pod",
    pod: pod({ initContainers: [INIT], restartPolicy: "Never" }),
    sandbox: sandbox([container("init", exited(1))]),
    plan: ["stop-sandbox"],
    isOver: true,
  },
  {
    it: "containers after a sidecar wait until it is started",
    pod: pod({ initContainers: [SIDECAR, INIT] }),
    sandbox: sandbox([container("side", running(), { started: false })]),
    plan: [],
  },
  {
    it: "the next container starts after a started sidecar",
    pod: pod({ initContainers: [SIDECAR, INIT] }),
    sandbox: sandbox([container("side", running(), { started: true })]),
    plan: ["start init#0"],
  },
  {
    it: "an exited sidecar is restarted beside running containers, and init containers are not",
    pod: pod({ initContainers: [INIT, SIDECAR] }),
    sandbox: sandbox([container("side", exited(1)), container("c", running())]),
    plan: ["start side#1"],
  },
  {
    it: "a lost sandbox is recreated, and init containers run again",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(0)), container("c", exited(137))], { state: "not-ready" }),
    plan: ["record-sandbox-changed", "stop-sandbox", "run-sandbox", "start init#1"],
  },
  {
    it: "containers that outlived their sandbox are stopped before it is recreated, and restarted without back-off",
    pod: pod({ terminationGracePeriodSeconds: 7, ephemeralContainers: [{ name: "debug", image: "i:1" }] }),
    sandbox: sandbox([container("c", running()), container("debug", running())], { state: "not-ready" }),
    plan: ["record-sandbox-changed", "stop c,debug (7000)", "stop-sandbox", "run-sandbox", "start c#1"],
  },
  {
    it: "sidecars that outlived their sandbox are stopped last and started first",
    pod: pod({ initContainers: [SIDECAR] }),
    sandbox: sandbox([container("side", running()), container("c", running())], { state: "not-ready" }),
    plan: ["record-sandbox-changed", "stop c > side (30000)", "stop-sandbox", "run-sandbox", "start side#1"],
  },
  {
    it: "an init container that outlived its sandbox is stopped, too",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", running())], { state: "not-ready" }),
    plan: ["record-sandbox-changed", "stop init (30000)", "stop-sandbox", "run-sandbox", "start init#1"],
  },
  {
    it: "containers that were killed with their sandbox are restarted without being stopped",
    pod: pod({ containers: [REGULAR, { name: "d", image: "i:1" }] }),
    sandbox: sandbox([container("c", exited(137)), container("d", running())], { state: "not-ready" }),
    plan: ["record-sandbox-changed", "stop d (30000)", "stop-sandbox", "run-sandbox", "start c#1", "start d#1"],
  },
  {
    it: "a Pod with restartPolicy Never gets no other sandbox for containers that outlived theirs",
    pod: pod({ restartPolicy: "Never", initContainers: [SIDECAR] }),
    sandbox: sandbox([container("c", running())], { state: "not-ready" }),
    plan: ["stop c (30000)", "stop-sandbox"],
  },
  {
    it: "a Pod with restartPolicy Never gets no other sandbox after its init containers succeeded",
    pod: pod({ restartPolicy: "Never", initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(0))], { state: "not-ready" }),
    plan: [],
  },
  {
    it: "a Pod with restartPolicy Never gets another sandbox while nothing ran in the first",
    pod: pod({ restartPolicy: "Never" }),
    sandbox: sandbox([], { state: "not-ready" }),
    plan: ["record-sandbox-changed", "stop-sandbox", "run-sandbox", "start c#0"],
  },
  {
    it: "with restartPolicy OnFailure the exit codes are known before another sandbox is created",
    pod: pod({ restartPolicy: "OnFailure", initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(0)), container("c", running())], { state: "not-ready" }),
    plan: ["record-sandbox-changed", "stop c (30000)", "stop-sandbox"],
  },
  {
    it: "with restartPolicy OnFailure only failed containers of a lost sandbox are restarted",
    pod: pod({ restartPolicy: "OnFailure", containers: [REGULAR, { name: "d", image: "i:1" }] }),
    sandbox: sandbox([container("c", exited(0)), container("d", exited(4))], { state: "not-ready" }),
    plan: ["record-sandbox-changed", "stop-sandbox", "run-sandbox", "start d#1"],
  },
  {
    it: "a runtime without history continues the restart count of the reported status",
    pod: pod(
      {},
      { status: { containerStatuses: [{ name: "c", containerID: "x://1", restartCount: 4, ready: true, image: "i:1", imageID: "" }] } },
    ),
    plan: ["run-sandbox", "start c#5"],
  },
  {
    it: "an ephemeral container is started once beside running containers",
    pod: pod({
      ephemeralContainers: [
        { name: "debug", image: "i:1" },
        { name: "old", image: "i:1" },
      ],
    }),
    sandbox: sandbox([container("c", running()), container("old", exited(1))]),
    plan: ["start debug#0"],
  },
  {
    it: "an ephemeral container that ran is not started again after the runtime lost it",
    pod: pod(
      {
        ephemeralContainers: [
          { name: "ran", image: "i:1" },
          { name: "runs", image: "i:1" },
          { name: "new", image: "i:1" },
        ],
      },
      {
        status: {
          ephemeralContainerStatuses: [
            { ...FORGOTTEN, name: "ran", state: { terminated: { exitCode: 0 } } },
            { ...FORGOTTEN, name: "runs", state: { running: {} } },
            { ...FORGOTTEN, name: "new", state: { waiting: {} } },
          ],
        },
      },
    ),
    sandbox: sandbox([container("c", running())]),
    plan: ["start new#0"],
  },
  {
    it: "an image with another name in the runtime is not a changed image",
    pod: pod({ containers: [{ name: "c", image: "busybox" }] }),
    sandbox: sandbox([{ ...container("c", running()), image: "docker.io/library/busybox:latest", requestedImage: "busybox" }]),
    plan: [],
  },
  {
    it: "a changed image restarts the container",
    pod: pod({ containers: [{ name: "c", image: "i:2" }] }),
    sandbox: sandbox([container("c", running())]),
    plan: ["stop c (30000)", "start c#1"],
  },
  {
    it: "a deleted Pod stops its regular containers first and its first sidecar last",
    pod: pod({ initContainers: [SIDECAR, { ...SIDECAR, name: "later" }] }, { metadata: DELETED }),
    sandbox: sandbox([container("side", running()), container("later", running()), container("c", running())]),
    plan: ["stop c > later > side (5000)", "stop-sandbox"],
  },
  {
    it: "the grace period is at least two seconds",
    pod: pod({}, { metadata: { ...DELETED, deletionGracePeriodSeconds: 0 } }),
    sandbox: sandbox([container("c", running())]),
    plan: ["stop c (2000)", "stop-sandbox"],
  },
  { it: "a deleted Pod of which nothing was begun is over", pod: pod({}, { metadata: DELETED }), plan: [], isOver: true },
  {
    it: "a Pod that left the API is removed completely",
    pod: pod(),
    isGone: true,
    sandbox: sandbox([container("c", exited(0))]),
    plan: ["stop-sandbox", "remove-sandbox"],
    isOver: true,
  },
  {
    it: "a terminal Pod is not started again",
    pod: pod({}, { status: { phase: "Failed" } }),
    plan: [],
    isOver: true,
  },
];

test("the plan of a Pod follows from its spec and the state of the runtime", async (t) => {
  for (const { it, pod: wanted, sandbox: there, isGone = false, plan: expected, isOver = false } of rows) {
    await t.test(it, () => {
      const plan = planOf({ pod: wanted, sandbox: there, isOrphaned: isGone });

      assert.deepEqual([plan.actions.map(words), plan.isTerminated], [expected, isOver]);
    });
  }
});

test("a crashed container waits longer each time, and from the minimum after ten minutes without a crash", () => {
  const memory = new PodWorkerMemory();
  const seen: (number | undefined)[] = [];
  let nowMs = 0;
  for (let crash = 0; crash < 8; crash++) {
    const box = sandbox([container("c", exited(1, nowMs), { attempt: crash })]);
    const waiting = planOf({ sandbox: box, memory, nowMs });
    seen.push(waiting.syncAtMs === undefined ? undefined : waiting.syncAtMs - nowMs);
    const endedAtMs = nowMs;
    nowMs = waiting.syncAtMs ?? nowMs;
    assert.deepEqual(planOf({ sandbox: box, memory, nowMs }).actions.map(words).at(-1), `start c#${crash + 1}`);
    memory.restarts(REGULAR, { endedAtMs, nowMs });
  }

  assert.deepEqual(seen, [undefined, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  nowMs += 600_001;
  assert.equal(planOf({ sandbox: sandbox([container("c", exited(1, nowMs), { attempt: 8 })]), memory, nowMs }).syncAtMs, undefined);
});

test("a start that completed while the runtime was queried is not repeated because of the outdated answer", () => {
  for (const containers of [[], [container("c", CREATED)]]) {
    const plan = planOf({ sandbox: sandbox(containers), wasStarting: new Set(["c"]) });

    assert.deepEqual(plan.actions, []);
  }
});

test("volumes are prepared once, and again when an ephemeral container is the first to use one", () => {
  const volumes = [
    { name: "used", emptyDir: {} },
    { name: "unused", emptyDir: {} },
  ];
  const mounting = (name: string, volume: string) => ({ name, image: "i:1", volumeMounts: [{ name: volume, mountPath: "/v" }] });
  const before = pod({ volumes, containers: [mounting("c", "used")] });
  const after = pod({ volumes, containers: [mounting("c", "used")], ephemeralContainers: [mounting("debug", "unused")] });
  const memory = new PodWorkerMemory({ needsMachine: true });
  const actions = (wanted: Pod): readonly string[] =>
    planOf({ pod: wanted, sandbox: sandbox([container("c", running())]), memory }).actions.map(words);

  assert.deepEqual(actions(before), ["prepare"]);
  memory.prepared(before);
  assert.deepEqual([actions(before), actions(after)], [[], ["prepare"]]);
  memory.prepared(after);
  assert.deepEqual(actions(after), ["start debug#0"]);
});

test("a container that failed to start is retried after the back-off and reports the reason meanwhile", () => {
  const memory = new PodWorkerMemory();
  memory.couldNotStart("c", { reason: "CreateContainerError", message: "no" }, 1_000);

  const plan = planOf({ sandbox: sandbox([]), memory, nowMs: 2_000 });

  assert.deepEqual([plan.actions, plan.syncAtMs], [[], 11_000]);
  assert.deepEqual(plan.waiting.get("c"), { reason: "CreateContainerError", message: "no" });
  assert.deepEqual(planOf({ sandbox: sandbox([]), memory, nowMs: 11_000 }).actions.map(words), ["start c#0"]);
});

test("a sandbox that could not be created is retried after the back-off", () => {
  const memory = new PodWorkerMemory();
  memory.couldNotRunSandbox(0);

  assert.deepEqual([planOf({ memory, nowMs: 9_999 }).actions, planOf({ memory, nowMs: 9_999 }).syncAtMs], [[], 10_000]);
  assert.deepEqual(planOf({ memory, nowMs: 10_000 }).actions.map(words), ["run-sandbox", "start c#0"]);
});

test("a failure because the runtime was unavailable is retried after the short delay", () => {
  const memory = new PodWorkerMemory();
  const error = new RuntimeError("Unavailable", "gone");
  memory.couldNotRunSandbox(0, error);
  assert.deepEqual([planOf({ memory, nowMs: 0 }).actions, planOf({ memory, nowMs: 0 }).syncAtMs], [[], 1_000]);

  memory.couldNotStart("c", { reason: "RunContainerError", message: "gone", error }, 1_000);
  assert.equal(planOf({ sandbox: sandbox([]), memory, nowMs: 1_000 }).syncAtMs, 2_000);
});

test("a deadline schedules a sync", () => {
  const limited = pod({ activeDeadlineSeconds: 60 }, { status: { phase: "Running", startTime: "1970-01-01T00:00:10Z" } });
  const box = sandbox([container("c", running())]);
  const [before, after] = [10_000, 70_000].map((nowMs) => planOf({ pod: limited, sandbox: box, nowMs }));

  assert.deepEqual([before?.actions, before?.syncAtMs, before?.isPastDeadline], [[], 70_000, false]);
  assert.deepEqual([after?.actions.map(words), after?.isPastDeadline], [["stop c (30000)", "stop-sandbox"], true]);
});
