import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../../api/generated/batch/v1.ts";
import { observeJobs, surplusHistory, withActive } from "./child-jobs.ts";

function jobWith(name: string, outcome?: "Complete" | "Failed", minute?: number): Job {
  const time = minute === undefined ? undefined : `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: "default", uid: name },
    status: {
      ...(time === undefined ? {} : { startTime: time }),
      ...(time === undefined || outcome !== "Complete" ? {} : { completionTime: time }),
      ...(outcome === undefined ? {} : { conditions: [{ type: outcome, status: "True" }] }),
    },
  };
}

const activeOf = (...names: string[]) => ({ active: names.map((name) => ({ kind: "Job", name, namespace: "default", uid: name })) });
const names = (all: readonly Job[]) => all.map(({ metadata }) => metadata.name);

test("finished Jobs leave the active list, and the last success is kept", () => {
  const children = [jobWith("a", "Complete", 5), jobWith("b", "Failed", 6), jobWith("c", "Complete", 2), jobWith("d")];

  const { status, completed, unexpected, missing } = observeJobs(children, activeOf("a", "b", "d"));

  deepEqual(status, { ...activeOf("d"), lastSuccessfulTime: "2026-01-01T00:05:00Z" });
  deepEqual([names(completed), names(unexpected), missing], [["a", "b"], [], []]);
});

test("unknown unfinished Jobs are unexpected, and active ones that do not exist are missing", () => {
  const { unexpected, missing, status } = observeJobs([jobWith("new")], activeOf("gone"));

  deepEqual([names(unexpected), missing.map(({ name }) => name), status], [["new"], ["gone"], activeOf("gone")]);
});

test("an earlier success does not replace a later one", () => {
  const status = { lastSuccessfulTime: "2026-01-01T00:09:00Z" };

  deepEqual(observeJobs([jobWith("a", "Complete", 5)], status).status, status);
});

test("history limits remove the oldest Jobs of each outcome", () => {
  const children = [
    jobWith("c3", "Complete", 3),
    jobWith("c1", "Complete", 1),
    jobWith("f2", "Failed", 2),
    jobWith("r"),
    jobWith("c2", "Complete", 2),
  ];
  const spec = { schedule: "", jobTemplate: {} };

  deepEqual(names(surplusHistory(children, { ...spec, successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 })), ["c1", "c2", "f2"]);
  deepEqual(names(surplusHistory(children, { ...spec, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 })), []);
  deepEqual(names(surplusHistory(children, spec)), []);
});

test("an active Job is referenced completely", () => {
  equal(
    JSON.stringify(withActive({}, { ...jobWith("a"), metadata: { name: "a", namespace: "default", uid: "u", resourceVersion: "7" } })),
    '{"active":[{"kind":"Job","name":"a","apiVersion":"batch/v1","namespace":"default","uid":"u","resourceVersion":"7"}]}',
  );
});
