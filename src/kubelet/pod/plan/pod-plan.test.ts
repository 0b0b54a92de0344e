import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { OwnMemory } from "../pod-state.ts";
import { planPod, type PodAction, type PodView } from "./pod-plan.ts";
import { RuntimeError, type SandboxStatus } from "../../contracts/runtime.ts";
import { container, CREATED, exited, running, sandbox } from "../../testing/sandboxes.ts";

const INIT = { name: "init", image: "i:1" };
const SIDECAR = { name: "side", image: "i:1", restartPolicy: "Always" as const };
const REGULAR = { name: "c", image: "i:1" };

const FORGOTTEN = { restartCount: 0, ready: false, image: "i:1", imageID: "" };

function pod(spec: Partial<NonNullable<Pod["spec"]>> = {}, more: Partial<Pod> = {}): Pod {
  const metadata = { name: "p", namespace: "default", uid: "u", ...more.metadata };
  return { apiVersion: "v1", kind: "Pod", spec: { containers: [REGULAR], ...spec }, ...more, metadata };
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
  return planPod({ pod: pod(), isGone: false, sandbox: undefined, memory: new OwnMemory(), nowMs: 0, ...view });
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
  { it: "a new Pod gets its place and all containers", pod: pod(), plan: ["run-sandbox", "start c#0"] },
  {
    it: "a new Pod with init containers gets only the first",
    pod: pod({ initContainers: [INIT, SIDECAR] }),
    plan: ["run-sandbox", "start init#0"],
  },
  { it: "what runs is left alone", pod: pod(), sandbox: sandbox([container("c", running())]), plan: [] },
  { it: "what was made and never started is started", pod: pod(), sandbox: sandbox([container("c", CREATED)]), plan: ["start c#0"] },
  { it: "what has ended runs again", pod: pod(), sandbox: sandbox([container("c", exited(0))]), plan: ["start c#1"] },
  {
    it: "of those that ended only the newest are kept",
    pod: pod(),
    sandbox: sandbox([2, 1, 0].map((attempt) => container("c", exited(1), { attempt }))),
    plan: ["remove c-1", "remove c-0", "start c#3"],
  },
  {
    it: "success ends a Pod that restarts on failure only",
    pod: pod({ restartPolicy: "OnFailure" }),
    sandbox: sandbox([container("c", exited(0))]),
    plan: ["stop-sandbox"],
    isOver: true,
  },
  {
    it: "failure does not",
    pod: pod({ restartPolicy: "OnFailure" }),
    sandbox: sandbox([container("c", exited(1))]),
    plan: ["start c#1"],
  },
  {
    it: "a rule of its own has a container restarted where its Pod would not",
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
    it: "one of two that has ended for good does not end the Pod",
    pod: pod({ restartPolicy: "Never", containers: [REGULAR, { name: "d", image: "i:1" }] }),
    sandbox: sandbox([container("c", exited(0)), container("d", running())]),
    plan: [],
  },
  {
    it: "an init container that runs is waited for",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", running())]),
    plan: [],
  },
  {
    it: "after the init container the others begin",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(0))]),
    plan: ["start c#0"],
  },
  {
    it: "a failed init container is tried again",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(1))]),
    plan: ["start init#1"],
  },
  {
    it: "a failed init container that may not be tried again ends the Pod",
    pod: pod({ initContainers: [INIT], restartPolicy: "Never" }),
    sandbox: sandbox([container("init", exited(1))]),
    plan: ["stop-sandbox"],
    isOver: true,
  },
  {
    it: "a sidecar holds up what comes after it until it is started",
    pod: pod({ initContainers: [SIDECAR, INIT] }),
    sandbox: sandbox([container("side", running(), { started: false })]),
    plan: [],
  },
  {
    it: "a sidecar that is started lets the next begin",
    pod: pod({ initContainers: [SIDECAR, INIT] }),
    sandbox: sandbox([container("side", running(), { started: true })]),
    plan: ["start init#0"],
  },
  {
    it: "a sidecar that ended is restarted beside what runs, and init containers are not",
    pod: pod({ initContainers: [INIT, SIDECAR] }),
    sandbox: sandbox([container("side", exited(1)), container("c", running())]),
    plan: ["start side#1"],
  },
  {
    it: "a place that was lost is made again, and everything from the beginning",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(0)), container("c", exited(137))], { state: "not-ready" }),
    plan: ["tell-sandbox-changed", "stop-sandbox", "run-sandbox", "start init#1"],
  },
  {
    it: "what outlived its place is asked to end before there is another, and is started there as if it had not crashed",
    pod: pod({ terminationGracePeriodSeconds: 7, ephemeralContainers: [{ name: "debug", image: "i:1" }] }),
    sandbox: sandbox([container("c", running()), container("debug", running())], { state: "not-ready" }),
    plan: ["tell-sandbox-changed", "stop c,debug (7000)", "stop-sandbox", "run-sandbox", "start c#1"],
  },
  {
    it: "of what outlived its place helpers end last and begin first",
    pod: pod({ initContainers: [SIDECAR] }),
    sandbox: sandbox([container("side", running()), container("c", running())], { state: "not-ready" }),
    plan: ["tell-sandbox-changed", "stop c > side (30000)", "stop-sandbox", "run-sandbox", "start side#1"],
  },
  {
    it: "an init container that outlived its place is asked to end, too",
    pod: pod({ initContainers: [INIT] }),
    sandbox: sandbox([container("init", running())], { state: "not-ready" }),
    plan: ["tell-sandbox-changed", "stop init (30000)", "stop-sandbox", "run-sandbox", "start init#1"],
  },
  {
    it: "what the kernel ended with its place is only started anew",
    pod: pod({ containers: [REGULAR, { name: "d", image: "i:1" }] }),
    sandbox: sandbox([container("c", exited(137)), container("d", running())], { state: "not-ready" }),
    plan: ["tell-sandbox-changed", "stop d (30000)", "stop-sandbox", "run-sandbox", "start c#1", "start d#1"],
  },
  {
    it: "a Pod that is never restarted gets no other place for what outlived the one that it had",
    pod: pod({ restartPolicy: "Never", initContainers: [SIDECAR] }),
    sandbox: sandbox([container("c", running())], { state: "not-ready" }),
    plan: ["stop c (30000)", "stop-sandbox"],
  },
  {
    it: "a Pod that is never restarted gets no other place, either, when what ran before the rest has ended well",
    pod: pod({ restartPolicy: "Never", initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(0))], { state: "not-ready" }),
    plan: [],
  },
  {
    it: "a Pod that is never restarted gets another place as long as nothing ran in the one that it had",
    pod: pod({ restartPolicy: "Never" }),
    sandbox: sandbox([], { state: "not-ready" }),
    plan: ["tell-sandbox-changed", "stop-sandbox", "run-sandbox", "start c#0"],
  },
  {
    it: "where it depends on how it ends whether it runs again, that is seen before there is another place",
    pod: pod({ restartPolicy: "OnFailure", initContainers: [INIT] }),
    sandbox: sandbox([container("init", exited(0)), container("c", running())], { state: "not-ready" }),
    plan: ["tell-sandbox-changed", "stop c (30000)", "stop-sandbox"],
  },
  {
    it: "of what has ended with its place only what failed runs again",
    pod: pod({ restartPolicy: "OnFailure", containers: [REGULAR, { name: "d", image: "i:1" }] }),
    sandbox: sandbox([container("c", exited(0)), container("d", exited(4))], { state: "not-ready" }),
    plan: ["tell-sandbox-changed", "stop-sandbox", "run-sandbox", "start d#1"],
  },
  {
    it: "a runtime that forgot goes on counting where the API stands",
    pod: pod(
      {},
      { status: { containerStatuses: [{ name: "c", containerID: "x://1", restartCount: 4, ready: true, image: "i:1", imageID: "" }] } },
    ),
    plan: ["run-sandbox", "start c#5"],
  },
  {
    it: "an ephemeral container is started beside what runs, once",
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
    it: "an ephemeral container that ran is not run again when the runtime has forgotten it",
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
    it: "an image that the runtime calls otherwise is no other image",
    pod: pod({ containers: [{ name: "c", image: "busybox" }] }),
    sandbox: sandbox([{ ...container("c", running()), image: "docker.io/library/busybox:latest", requestedImage: "busybox" }]),
    plan: [],
  },
  {
    it: "a changed image has the container stopped and started",
    pod: pod({ containers: [{ name: "c", image: "i:2" }] }),
    sandbox: sandbox([container("c", running())]),
    plan: ["stop c (30000)", "start c#1"],
  },
  {
    it: "a deleted Pod ends with its regular containers first and its first sidecar last",
    pod: pod({ initContainers: [SIDECAR, { ...SIDECAR, name: "later" }] }, { metadata: DELETED }),
    sandbox: sandbox([container("side", running()), container("later", running()), container("c", running())]),
    plan: ["stop c > later > side (5000)", "stop-sandbox"],
  },
  {
    it: "nobody is killed without having been asked",
    pod: pod({}, { metadata: { ...DELETED, deletionGracePeriodSeconds: 0 } }),
    sandbox: sandbox([container("c", running())]),
    plan: ["stop c (2000)", "stop-sandbox"],
  },
  { it: "a deleted Pod of which nothing was begun is over", pod: pod({}, { metadata: DELETED }), plan: [], isOver: true },
  {
    it: "what is no more in the API leaves no trace",
    pod: pod(),
    isGone: true,
    sandbox: sandbox([container("c", exited(0))]),
    plan: ["stop-sandbox", "remove-sandbox"],
    isOver: true,
  },
  {
    it: "a Pod that is over is not begun again",
    pod: pod({}, { status: { phase: "Failed" } }),
    plan: [],
    isOver: true,
  },
];

test("a plan follows from what is wanted and what there is", async (t) => {
  for (const { it, pod: wanted, sandbox: there, isGone = false, plan: expected, isOver = false } of rows) {
    await t.test(it, () => {
      const plan = planOf({ pod: wanted, sandbox: there, isGone });

      assert.deepEqual([plan.actions.map(words), plan.isOver], [expected, isOver]);
    });
  }
});

test("a container that crashed before waits, longer each time, and from the beginning after ten good minutes", () => {
  const memory = new OwnMemory();
  const seen: (number | undefined)[] = [];
  let nowMs = 0;
  for (let crash = 0; crash < 8; crash++) {
    const box = sandbox([container("c", exited(1, nowMs), { attempt: crash })]);
    const waiting = planOf({ sandbox: box, memory, nowMs });
    seen.push(waiting.lookAgainAtMs === undefined ? undefined : waiting.lookAgainAtMs - nowMs);
    const endedAtMs = nowMs;
    nowMs = waiting.lookAgainAtMs ?? nowMs;
    assert.deepEqual(planOf({ sandbox: box, memory, nowMs }).actions.map(words).at(-1), `start c#${crash + 1}`);
    memory.restarts("c", { endedAtMs, nowMs });
  }

  assert.deepEqual(seen, [undefined, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  nowMs += 600_001;
  assert.equal(planOf({ sandbox: sandbox([container("c", exited(1, nowMs), { attempt: 8 })]), memory, nowMs }).lookAgainAtMs, undefined);
});

test("a start that ended while the runtime was asked is not begun again by an answer that is too old", () => {
  for (const containers of [[], [container("c", CREATED)]]) {
    const plan = planOf({ sandbox: sandbox(containers), wasStarting: new Set(["c"]) });

    assert.deepEqual(plan.actions, []);
  }
});

test("volumes are made once, and once more when somebody comes who is the first to use one", () => {
  const volumes = [
    { name: "used", emptyDir: {} },
    { name: "unused", emptyDir: {} },
  ];
  const mounting = (name: string, volume: string) => ({ name, image: "i:1", volumeMounts: [{ name: volume, mountPath: "/v" }] });
  const before = pod({ volumes, containers: [mounting("c", "used")] });
  const after = pod({ volumes, containers: [mounting("c", "used")], ephemeralContainers: [mounting("debug", "unused")] });
  const memory = new OwnMemory({ needsMachine: true });
  const actions = (wanted: Pod): readonly string[] =>
    planOf({ pod: wanted, sandbox: sandbox([container("c", running())]), memory }).actions.map(words);

  assert.deepEqual(actions(before), ["prepare"]);
  memory.prepared(before);
  assert.deepEqual([actions(before), actions(after)], [[], ["prepare"]]);
  memory.prepared(after);
  assert.deepEqual(actions(after), ["start debug#0"]);
});

test("what could not be started is tried again later, and says why meanwhile", () => {
  const memory = new OwnMemory();
  memory.couldNotStart("c", { reason: "CreateContainerError", message: "no" }, 1_000);

  const plan = planOf({ sandbox: sandbox([]), memory, nowMs: 2_000 });

  assert.deepEqual([plan.actions, plan.lookAgainAtMs], [[], 11_000]);
  assert.deepEqual(plan.waiting.get("c"), { reason: "CreateContainerError", message: "no" });
  assert.deepEqual(planOf({ sandbox: sandbox([]), memory, nowMs: 11_000 }).actions.map(words), ["start c#0"]);
});

test("a place that could not be made is tried again later", () => {
  const memory = new OwnMemory();
  memory.couldNotRunSandbox(0);

  assert.deepEqual([planOf({ memory, nowMs: 9_999 }).actions, planOf({ memory, nowMs: 9_999 }).lookAgainAtMs], [[], 10_000]);
  assert.deepEqual(planOf({ memory, nowMs: 10_000 }).actions.map(words), ["run-sandbox", "start c#0"]);
});

test("what failed because the runtime was away is tried as soon as it may be back", () => {
  const memory = new OwnMemory();
  const error = new RuntimeError("Unavailable", "gone");
  memory.couldNotRunSandbox(0, error);
  assert.deepEqual([planOf({ memory, nowMs: 0 }).actions, planOf({ memory, nowMs: 0 }).lookAgainAtMs], [[], 1_000]);

  memory.couldNotStart("c", { reason: "RunContainerError", message: "gone", error }, 1_000);
  assert.equal(planOf({ sandbox: sandbox([]), memory, nowMs: 1_000 }).lookAgainAtMs, 2_000);
});

test("a deadline is looked at when it comes", () => {
  const limited = pod({ activeDeadlineSeconds: 60 }, { status: { phase: "Running", startTime: "1970-01-01T00:00:10Z" } });
  const box = sandbox([container("c", running())]);
  const [before, after] = [10_000, 70_000].map((nowMs) => planOf({ pod: limited, sandbox: box, nowMs }));

  assert.deepEqual([before?.actions, before?.lookAgainAtMs, before?.isPastDeadline], [[], 70_000, false]);
  assert.deepEqual([after?.actions.map(words), after?.isPastDeadline], [["stop c (30000)", "stop-sandbox"], true]);
});
