import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { RuntimeError } from "../../contracts/runtime.ts";
import { readRules, scriptFor, type SimulationRule } from "./pod-script.ts";
import { DEFAULT_INIT_SCRIPT, DEFAULT_SCRIPT, scriptOf } from "./script.ts";
import type { Settings } from "./settings.ts";
import { simulatedPod, type SimulatedPodParts } from "./testing/pods.ts";

function scriptOfMain(parts: SimulatedPodParts, { rules = [], name = "main" }: { rules?: SimulationRule[]; name?: string } = {}) {
  const pod = simulatedPod("web", parts);
  const container = [...(pod.spec!.initContainers ?? []), ...pod.spec!.containers].find((candidate) => candidate.name === name)!;
  return scriptFor(pod, container, readRules(rules));
}

test("every simulation annotation is parsed as documented", () => {
  const exec = (stdout: string, more = {}) => ({ stdout, stderr: "", exitCode: 0, takesMs: 0, echo: false, ...more });
  const rows: readonly [key: string, value: string, settings: Settings][] = [
    ["start-after", "1.5s", { startAfterMs: 1_500 }],
    ["started-after", "1m", { startedAfterMs: 60_000 }],
    ["ready-after", "250ms", { readyAfterMs: 250 }],
    [
      "unready",
      "10s-20s, 1m-",
      {
        unready: [
          { fromMs: 10_000, toMs: 20_000 },
          { fromMs: 60_000, toMs: Infinity },
        ],
      },
    ],
    ["run-for", "0", { runForMs: 0 }],
    ["exit-code", "3", { exitCode: 3 }],
    ["exit-reason", "OOMKilled", { exitReason: "OOMKilled" }],
    ["exit-message", "bye", { exitMessage: "bye" }],
    ["fail-times", "2", { failTimes: 2 }],
    ["fail-after", "1s", { failAfterMs: 1_000 }],
    ["fail-exit-code", "4", { failExitCode: 4 }],
    ["stop-takes", "1s", { stopTakesMs: 1_000 }],
    ["stop-exit-code", "0", { stopExitCode: 0 }],
    ["image-pull", "7s", { imagePull: { is: "takes", durationMs: 7_000 } }],
    ["image-pull", "fail", { imagePull: { is: "fails", message: "not found" } }],
    ["image-pull", "fail: gone", { imagePull: { is: "fails", message: "gone" } }],
    ["logs", "a\nb\n", { logs: ["a", "b"] }],
    ["log-every", "1s", { logEveryMs: 1_000 }],
    ["log-repeat", "true", { logRepeat: true }],
    [
      "exec",
      `{hostname: web-0, "cat /x": {stderr: gone, exitCode: 1, takes: 2s}}`,
      {
        exec: new Map([
          ["hostname", exec("web-0")],
          ["cat /x", exec("", { stderr: "gone", exitCode: 1, takesMs: 2_000 })],
        ]),
      },
    ],
  ];
  for (const [key, value, settings] of rows) {
    const others: Settings = key.startsWith("fail-") ? { failTimes: 1 } : {};
    const says = { ...(key === "fail-times" ? {} : key.startsWith("fail-") && { "fail-times": "1" }), [key]: value };
    deepEqual(scriptOfMain({ says }), scriptOf({ ...others, ...settings }), `${key}: ${value}`);
  }
});

test("all invalid simulation annotations are reported, each with the expected format", () => {
  const DURATION = "a duration such as 1.5s, 0 or longer";
  const SPANS = "spans of time such as 10s-20s,1m- where each ends later than it begins";
  const rows: readonly [key: string, value: string, should: string][] = [
    ["run-for", "-1s", DURATION],
    ["run-for", "5", DURATION],
    ["unready", "20s-10s", SPANS],
    ["unready", "20s", SPANS],
    ["unready", "1s-2s-3s", SPANS],
    ["exit-code", "256", "a whole number from 0 to 255"],
    ["exit-code", "-1", "a whole number from 0 to 255"],
    ["exit-reason", "out of luck", "one word in CamelCase such as OOMKilled"],
    ["fail-times", "some", "a whole number, 0 or more"],
    ["fail-exit-code", "0", "a whole number from 1 to 255"],
    ["log-repeat", "yes", "true or false"],
    ["image-pull", "never", "a duration such as 1.5s, or fail, or fail: followed by the reason"],
    ["exec", "[]", `answers by command such as {"hostname": "web-0"}`],
    ["exec", "{a: {out: b}}", "answers by command, each with no more than stdout, stderr, exitCode, takes, echo"],
    ["exec", "{a: {stderr: no}}", `answers by command, where stderr of "a" is text`],
    ["script", "- a", "settings by their names such as {readyAfter: 5s}"],
  ];
  for (const [key, value, should] of rows) {
    const message = `Cannot run Pod default/web: annotation simulated.k8ts.dev/${key} is ${JSON.stringify(value)} and should be ${should}`;
    throws(() => scriptOfMain({ says: { [key]: value } }), new RuntimeError("CannotRun", message));
  }
  throws(() => scriptOfMain({ says: { "exit-code": "a", "run-for.main": "b" } }), /exit-code is "a" .*; annotation .*run-for\.main is "b"/);
  throws(() => scriptOfMain({ says: { "run-for.other": "1s" } }), /run-for\.other is about container "other" and should be about main$/);
  for (const key of ["readyAfter", "soon", "__proto__", "constructor"]) {
    throws(() => scriptOfMain({ says: { [key]: "1s" } }), new RegExp(`${key} is not a setting and should be one of start-after, `));
  }
  throws(() => scriptOfMain({ says: { logs: "a", "log-repeat": "true" } }), /of container main, logs that repeat need a logEvery/);
  throws(() => scriptOfMain({ says: { script: "{" } }), /script is "\{" and should be YAML or JSON/);
  throws(
    () => scriptOfMain({ says: { script: "containers: {main: {exitCode: x}}" } }),
    /containers\.main\.exitCode in annotation .*script is "x"/,
  );
});

const FULL: SimulatedPodParts["spec"] = {
  initContainers: [
    { name: "init", image: "tool:1" },
    { name: "sidecar", image: "tool:1", restartPolicy: "Always" },
  ],
  containers: [
    { name: "main", image: "app:1" },
    { name: "other", image: "other:1" },
  ],
};

test("without settings a simulated container runs forever at once, and an init container completes", () => {
  equal(scriptOfMain({ spec: FULL }), DEFAULT_SCRIPT);
  equal(scriptOfMain({ spec: FULL }, { name: "sidecar" }), DEFAULT_SCRIPT);
  equal(scriptOfMain({ spec: FULL }, { name: "init" }), DEFAULT_INIT_SCRIPT);
});

test("settings without a container name apply to the main containers, and named ones take precedence", () => {
  const says = {
    "ready-after": "1s",
    "ready-after.main": "2s",
    "exit-code.init": "1",
    script: "{stopTakes: 9s, readyAfter: 8s, containers: {other: {stopTakes: 7s}}}",
  };
  const seen = ["init", "sidecar", "main", "other"].map((name) => scriptOfMain({ says, spec: FULL }, { name }));
  deepEqual(seen, [
    scriptOf({ runForMs: 0, exitCode: 1 }),
    DEFAULT_SCRIPT,
    scriptOf({ readyAfterMs: 2_000, stopTakesMs: 9_000 }),
    scriptOf({ readyAfterMs: 1_000, stopTakesMs: 7_000 }),
  ]);
});

test("cluster rules apply to what they match, later ones take precedence, and annotations override them", () => {
  const metadata = {
    labels: { app: "web" },
    ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u", controller: true }],
  };
  const exits = (exitCode: number, match?: SimulationRule["match"]): SimulationRule => ({
    settings: { exitCode },
    ...(match && { match }),
  });
  const rows: readonly [it: string, rules: SimulationRule[], container: string, exitCode: number | undefined][] = [
    ["for all", [exits(1)], "main", 1],
    ["not for init containers", [exits(1)], "init", 0],
    ["for init containers of an image", [exits(1, { image: "tool:*" })], "init", 1],
    ["for one image", [exits(1, { image: "app:1" })], "main", 1],
    ["for another image", [exits(1, { image: "app" })], "main", undefined],
    ["for one container", [exits(1, { container: "sidecar" })], "sidecar", 1],
    ["for one namespace", [exits(1, { namespace: "default" })], "main", 1],
    ["for another namespace", [exits(1, { namespace: "kube-system" })], "main", undefined],
    ["for labels", [exits(1, { selector: "app in (web)" })], "main", 1],
    ["for other labels", [exits(1, { selector: "app!=web" })], "main", undefined],
    ["for one kind of owner", [exits(1, { ownerKind: "Job" })], "main", 1],
    ["for another kind of owner", [exits(1, { ownerKind: "ReplicaSet" })], "main", undefined],
    ["the later one", [exits(1), exits(2), exits(3, { namespace: "no" })], "main", 2],
  ];
  for (const [it, rules, name, exitCode] of rows)
    equal(scriptOfMain({ metadata, spec: FULL }, { rules, name }).ending?.exitCode, exitCode, it);
  equal(scriptOfMain({ says: { "exit-code": "9" } }, { rules: [exits(1)] }).ending?.exitCode, 9);
});

test("invalid rules are rejected, all in one error", () => {
  const rules = [
    { settings: { runFor: "long" } },
    { match: { selector: "a in" }, settings: { runsFor: "1s" } as SimulationRule["settings"] },
  ];
  throws(
    () => readRules(rules),
    /^RangeError: Cannot simulate: rules\[0\]\.settings\.runFor is "long" and should be .*; rules\[1\]\.match\.selector is "a in" .*; rules\[1\]\.settings\.runsFor is not a setting/,
  );
});
