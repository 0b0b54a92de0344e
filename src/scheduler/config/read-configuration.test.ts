import { test } from "node:test";
import { deepEqual, ok } from "node:assert/strict";
import { defaultSchedulerConfiguration, readSchedulerConfiguration } from "./read-configuration.ts";
import type { SchedulerConfiguration } from "./scheduler-configuration.ts";
import { catalog } from "./testing/catalog.ts";

const head = { apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration" };

function read(written: object): SchedulerConfiguration {
  const result = readSchedulerConfiguration({ ...head, ...written }, catalog);
  ok(result.ok, JSON.stringify(result));
  return result.configuration;
}

function problemsOf(written: unknown): readonly string[] {
  const result = readSchedulerConfiguration(written, catalog);
  return result.ok ? [] : result.problems;
}

test("an empty configuration is upstream's default", () => {
  const { profiles, ...rest } = read({});
  deepEqual(rest, {
    podInitialBackoffMs: 1_000,
    podMaxBackoffMs: 10_000,
    leaderElection: {
      leaderElect: true,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      resourceNamespace: "kube-system",
      resourceName: "kube-scheduler",
    },
    kubeconfig: "",
  });
  deepEqual(
    profiles.map(({ schedulerName, percentageOfNodesToScore }) => [schedulerName, percentageOfNodesToScore]),
    [["default-scheduler", 0]],
  );
  deepEqual(defaultSchedulerConfiguration(catalog), read({}));
});

test("all configured values are used", () => {
  const configuration = read({
    parallelism: 4,
    percentageOfNodesToScore: 30,
    podInitialBackoffSeconds: 2,
    podMaxBackoffSeconds: 60,
    leaderElection: { leaderElect: false, leaseDuration: "1m", renewDeadline: "40s", retryPeriod: "0s", resourceName: "mine" },
    clientConnection: { kubeconfig: "/etc/kubeconfig", qps: 12.5, burst: 7, contentType: "application/json" },
    enableProfiling: false,
    delayCacheUntilActive: true,
    profiles: [
      {
        schedulerName: "a",
        pluginConfig: [
          { name: "InterPodAffinity", args: { hardPodAffinityWeight: 7 } },
          { name: "NotHere", args: 5 },
        ],
      },
      { schedulerName: "b", percentageOfNodesToScore: 100, plugins: { placementScore: { enabled: [{ name: "X" }] } } },
    ],
  });

  const { profiles, ...rest } = configuration;
  deepEqual(rest, {
    podInitialBackoffMs: 2_000,
    podMaxBackoffMs: 60_000,
    leaderElection: {
      leaderElect: false,
      leaseDurationMs: 60_000,
      renewDeadlineMs: 40_000,
      retryPeriodMs: 2_000,
      resourceNamespace: "kube-system",
      resourceName: "mine",
    },
    kubeconfig: "/etc/kubeconfig",
  });
  deepEqual(
    profiles.map((profile) => [profile.schedulerName, profile.percentageOfNodesToScore, profile.arguments]),
    [
      ["a", 30, new Map([["InterPodAffinity", { hardPodAffinityWeight: 7 }]])],
      ["b", 100, new Map()],
    ],
  );
});

test("all errors are reported at once, in upstream's order, with its paths and wording", () => {
  const problems = problemsOf({
    ...head,
    profiles: [
      { schedulerName: "a", percentageOfNodesToScore: 101 },
      { schedulerName: "a" },
      { plugins: { queueSort: { enabled: [{ name: "X" }], disabled: [{ name: "*" }] } } },
    ],
    parallelism: -1,
    podInitialBackoffSeconds: 0,
    podMaxBackoffSeconds: -5,
    percentageOfNodesToScore: -3,
    clientConnection: { burst: -1 },
    leaderElection: { leaseDuration: "1s", retryPeriod: "-1s", resourceLock: "endpoints" },
  });
  deepEqual(problems, [
    "clientConnection.burst: Invalid value: -1: must be non-negative",
    'leaderElection.retryPeriod: Invalid value: "-1s": must be greater than zero',
    'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
    'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
    "parallelism: Invalid value: -1: should be an integer value greater than zero",
    "profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
    'profiles[1].schedulerName: Duplicate value: "a"',
    "profiles[2].schedulerName: Required value",
    'profiles[2].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"X","Weight":0}],"Disabled":[{"Name":"*","Weight":0}]}: must be the same for all profiles',
    "percentageOfNodesToScore: Invalid value: -3: not in valid range [0-100]",
    "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
    "podMaxBackoffSeconds: Invalid value: -5: must be greater than or equal to PodInitialBackoffSeconds",
  ]);
});

const otherKind = "it should be a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1";

const rows: readonly { readonly when: string; readonly written: unknown; readonly says: readonly string[] }[] = [
  {
    when: "it has unknown fields",
    written: { ...head, foo: 1, profiles: [{ plugins: { filtr: {} }, schedulerNam: "a" }] },
    says: [
      'strict decoding error: unknown field "foo", unknown field "profiles[0].plugins.filtr", unknown field "profiles[0].schedulerNam"',
    ],
  },
  {
    when: "a value has the wrong type",
    written: { ...head, parallelism: "abc" },
    says: ["json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type int32"],
  },
  {
    when: "it is of another kind",
    written: { ...head, kind: "Foo" },
    says: [`no kind "Foo" is registered for version "kubescheduler.config.k8s.io/v1": ${otherKind}`],
  },
  {
    when: "it is of another version",
    written: { ...head, apiVersion: "kubescheduler.config.k8s.io/v1beta3" },
    says: [`no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3": ${otherKind}`],
  },
  { when: "its kind is missing", written: { apiVersion: head.apiVersion }, says: ["Object 'Kind' is missing"] },
  { when: "its apiVersion is missing", written: { kind: head.kind }, says: ["Object 'apiVersion' is missing"] },
  { when: "it is empty", written: null, says: ["Object 'Kind' is missing"] },
  {
    when: "it has extenders",
    written: { ...head, extenders: [{ urlPrefix: "http://127.0.0.1" }] },
    says: [
      "extenders: Forbidden: there are no extenders here: make it a plugin, or run the scheduler that has them under a schedulerName of its own",
    ],
  },
  {
    when: "arguments of a plugin are invalid, duplicated, or of a removed plugin",
    written: {
      ...head,
      profiles: [
        {
          plugins: { filter: { enabled: [{ name: "EBSLimits" }] } },
          pluginConfig: [
            { name: "InterPodAffinity", args: { hardPodAffinityWeight: 1000 } },
            { name: "InterPodAffinity" },
            { name: "EBSLimits" },
          ],
        },
      ],
    },
    says: [
      'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
      'profiles[0].pluginConfig[2]: Invalid value: "EBSLimits": was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
      "profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 1000: not in valid range [0, 100]",
      'profiles[0].pluginConfig[1]: Duplicate value: "InterPodAffinity"',
    ],
  },
  {
    when: "arguments have unknown fields",
    written: { ...head, profiles: [{ pluginConfig: [{ name: "InterPodAffinity", args: { bla: 1 } }] }] },
    says: [
      'decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin InterPodAffinity: strict decoding error: unknown field "bla"',
    ],
  },
  {
    when: "arguments are those of another plugin",
    written: { ...head, profiles: [{ pluginConfig: [{ name: "InterPodAffinity", args: { ...head, kind: "FooArgs" } }] }] },
    says: [
      'decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: no kind "FooArgs" is registered for version "kubescheduler.config.k8s.io/v1": it should be a InterPodAffinityArgs of kubescheduler.config.k8s.io/v1',
    ],
  },
  {
    when: "arguments have the right kind",
    written: { ...head, profiles: [{ pluginConfig: [{ name: "InterPodAffinity", args: { ...head, kind: "InterPodAffinityArgs" } }] }] },
    says: [],
  },
  {
    when: "two queueSort plugins are enabled",
    written: { ...head, profiles: [{ plugins: { queueSort: { enabled: [{ name: "A" }, { name: "B" }] } } }] },
    says: ["profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled"],
  },
  {
    when: "leader election is off, so that its times do not matter",
    written: { ...head, leaderElection: { leaderElect: false, leaseDuration: "1s", resourceLock: "endpoints" } },
    says: [],
  },
];

for (const { when, written, says } of rows) {
  test(`a configuration is ${says.length === 0 ? "accepted" : "rejected"} when ${when}`, () => deepEqual(problemsOf(written), says));
}
