import assert from "node:assert/strict";
import test from "node:test";
import type { CronJob } from "../../generated/batch/v1.ts";
import type { JsonObject } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problems as textsOf,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
} from "../../testing/kind.ts";
import { cronJobs } from "./cron-job.ts";

const POD: JsonObject = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };
const JOB: JsonObject = { template: { spec: POD } };
const SPEC: JsonObject = { schedule: "* * * * *", jobTemplate: { spec: JOB } };

test("a CronJob gets its defaults, idempotently, and its template only those of its parts", () => {
  const podFailurePolicy = { rules: [{ action: "Ignore", onPodConditions: [{ type: "A" }] }] };
  const cronJob = received(cronJobs, { spec: { ...SPEC, jobTemplate: { spec: { ...JOB, podFailurePolicy } } } });

  const { jobTemplate, ...rest } = cronJob.spec;
  assert.deepEqual(rest, {
    schedule: "* * * * *",
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  const { template, ...ofJob } = jobTemplate.spec ?? {};
  assert.deepEqual(ofJob, { podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "A", status: "True" }] }] } });
  assert.equal(template?.spec?.dnsPolicy, "ClusterFirst");
  assert.equal(cronJobs.served[0]?.defaults?.(cronJob), cronJob);
});

const ROWS: readonly [title: string, change: JsonObject, problems: readonly string[]][] = [
  ["its defaults", {}, []],
  ["a time zone", { timeZone: "Europe/Berlin", concurrencyPolicy: "Replace" }, []],
  ["no schedule", { schedule: "" }, ["spec.schedule: Required value"]],
  [
    "a schedule that is none",
    { schedule: "61 * * * *" },
    ['spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61'],
  ],
  [
    "a time zone in its schedule",
    { schedule: "TZ=UTC * * * * *" },
    ['spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
  ],
  [
    "a time zone that is none in its schedule",
    { schedule: "CRON_TZ=Foo * * * * *" },
    [
      'spec.schedule: Invalid value: "CRON_TZ=Foo * * * * *": provided bad location Foo: unknown time zone Foo',
      'spec.schedule: Invalid value: "CRON_TZ=Foo * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  [
    "numbers below none",
    { startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 },
    [
      "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
      "spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
    ],
  ],
  ["an empty time zone", { timeZone: "" }, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']],
  [
    "an unknown time zone",
    { timeZone: "Europe/Atlantis" },
    ['spec.timeZone: Invalid value: "Europe/Atlantis": unknown time zone Europe/Atlantis'],
  ],
  ["a time zone that cannot be called so", { timeZone: "a b" }, ['spec.timeZone: Invalid value: "a b": unknown time zone a b']],
  [
    "a time zone with a part that is too long",
    { timeZone: "Europe/Constantinople1" },
    ['spec.timeZone: Invalid value: "Europe/Constantinople1": unknown time zone Europe/Constantinople1'],
  ],
  ["a path for a time zone", { timeZone: "../UTC" }, ['spec.timeZone: Invalid value: "../UTC": unknown time zone ../UTC']],
  ["dots for a time zone", { timeZone: "a..b" }, ['spec.timeZone: Invalid value: "a..b": time: invalid location name']],
  [
    "the time zone of the machine",
    { timeZone: "Local" },
    ['spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'],
  ],
  [
    "the time zone of the machine, written otherwise",
    { timeZone: "local" },
    [
      'spec.timeZone: Invalid value: "local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      'spec.timeZone: Invalid value: "local": unknown time zone local',
    ],
  ],
  [
    "an unknown policy",
    { concurrencyPolicy: "Foo" },
    ['spec.concurrencyPolicy: Unsupported value: "Foo": supported values: "Allow", "Forbid", "Replace"'],
  ],
  [
    "a selector",
    { jobTemplate: { spec: { ...JOB, selector: { matchLabels: { a: "b" } }, manualSelector: true } } },
    [
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ],
  ],
  [
    "a bad template",
    { jobTemplate: { spec: { parallelism: -1, template: { spec: { containers: [] } } } } },
    [
      "spec.jobTemplate.spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
      "spec.jobTemplate.spec.template.spec.containers: Required value",
      'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
  ],
];

for (const [title, change, problems] of ROWS) {
  test(`a CronJob with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(cronJobs, { spec: { ...SPEC, ...change } }), problems);
  });
}

test("defaulted fields of a CronJob are required", () => {
  const cronJob = newObject(cronJobs, { spec: SPEC });
  const { concurrencyPolicy: _, ...spec } = cronJob.spec;

  assert.deepEqual(textsOf(cronJobs.validate?.({ ...cronJob, spec }) ?? []), ["spec.concurrencyPolicy: Required value"]);
});

test("the name of a new CronJob leaves room for the suffix of its Jobs; an existing one may be longer", () => {
  const name = "a".repeat(53);
  const long = { metadata: { name }, spec: SPEC };

  assert.deepEqual(problemsOfNew(cronJobs, { metadata: { name: name.slice(1) }, spec: SPEC }), []);
  assert.deepEqual(problemsOfNew(cronJobs, long), [`metadata.name: Invalid value: "${name}": must be no more than 52 characters`]);
  assert.deepEqual(problemsOfChange(cronJobs, newObject(cronJobs, long), long), []);
});

const CHANGES: readonly [title: string, before: JsonObject, change: JsonObject, problems: readonly string[]][] = [
  [
    "a zone in its schedule that is new",
    {},
    { schedule: "TZ=UTC * * * * *" },
    ['spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
  ],
  ["a zone in its schedule that was there", { schedule: "TZ=UTC 1 * * * *" }, { schedule: "TZ=UTC * * * * *" }, []],
  [
    "both ways to say the zone",
    { schedule: "TZ=UTC 1 * * * *" },
    { schedule: "TZ=UTC * * * * *", timeZone: "UTC" },
    ['spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule'],
  ],
  ["a time zone that is none and was there", { timeZone: "Foo" }, { timeZone: "Foo", suspend: true }, []],
  [
    "a time zone that is none and new",
    { timeZone: "UTC" },
    { timeZone: "Foo" },
    ['spec.timeZone: Invalid value: "Foo": unknown time zone Foo'],
  ],
];

for (const [title, before, change, problems] of CHANGES) {
  test(`an update of a CronJob with ${title} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfChange(cronJobs, newObject(cronJobs, { spec: { ...SPEC, ...before } }), { spec: { ...SPEC, ...change } }),
      problems,
    );
  });
}

test("a status write of a CronJob keeps the spec and is not validated; an update keeps the status", () => {
  const previous = newObject(cronJobs, { spec: SPEC, status: { lastScheduleTime: "2026-01-01T00:00:00Z" } });
  const status = { active: [{ name: "y" }] };
  const next = changedObject(cronJobs, previous, { spec: { ...SPEC, suspend: true }, status });

  assert.deepEqual(previous.status, {});
  assert.equal(next.status, previous.status);
  assert.equal(cronJobs.changesGeneration?.(next, previous), true);
  assert.equal(changedObject(cronJobs, previous, { spec: {}, status }, "status").spec, previous.spec);
  assert.deepEqual(problemsOfChange(cronJobs, previous, { spec: SPEC, status }, "status"), []);
});

test("a suspicious CronJob produces warnings", () => {
  const many = { completionMode: "Indexed", completions: 100_001, parallelism: 10_001 };
  const jobTemplate = { spec: { ...many, template: { spec: { ...POD, nodeSelector: { "beta.kubernetes.io/os": "x" } } } } };
  const odd = newObject(cronJobs, { spec: { ...SPEC, schedule: "TZ=UTC * * * * *", jobTemplate } });

  assert.deepEqual(warningsOfNew(cronJobs, { metadata: { name: "a.b" }, spec: { ...SPEC, jobTemplate } }), [
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    "spec.jobTemplate.spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
    'spec.jobTemplate.spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  assert.deepEqual(
    [...(cronJobs.warnings?.(odd, odd) ?? [])],
    [
      "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
    ],
  );
});

test("the table of CronJobs shows the last schedule time", () => {
  const nowMs = Date.parse("2026-01-01T00:05:00Z");
  const created = newObject(cronJobs, { spec: { ...SPEC, timeZone: "UTC", suspend: true } });
  const cronJob: CronJob = { ...created, status: { active: [{ name: "y" }], lastScheduleTime: "2026-01-01T00:00:00Z" } };

  assert.deepEqual(columnNames(cronJobs), [
    "Name",
    "Schedule",
    "Timezone",
    "Suspend",
    "Active",
    "Last Schedule",
    "Age",
    "Containers*",
    "Images*",
    "Selector*",
  ]);
  assert.deepEqual(Object.values(cellsOf(cronJobs, cronJob, nowMs)), [
    "x",
    "* * * * *",
    "UTC",
    "True",
    1,
    "5m",
    "<unknown>",
    "c",
    "i",
    "<none>",
  ]);
  const { Timezone, Suspend, ...rest } = cellsOf(cronJobs, newObject(cronJobs, { spec: SPEC }), nowMs);
  assert.deepEqual([Timezone, Suspend, rest["Last Schedule"]], ["<none>", "False", "<none>"]);
});
