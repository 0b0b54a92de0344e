import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import type { Profile } from "../cycle/profile.ts";
import { podInfo, aPod, snapshotOf } from "../framework/testing/builders.ts";
import { profilesOf } from "./profiles.ts";
import { readSchedulerConfiguration } from "./read-configuration.ts";
import { catalog, noContext } from "./testing/catalog.ts";
import type { WrittenPlugins, WrittenProfile } from "./written-configuration.ts";

function make(...profiles: readonly WrittenProfile[]) {
  const read = readSchedulerConfiguration(
    { apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration", profiles },
    catalog,
  );
  ok(read.ok, JSON.stringify(read));
  return profilesOf(read.configuration, catalog, noContext);
}

function onlyProfile(profile: WrittenProfile): Profile {
  const made = make(profile);
  ok(made.ok, JSON.stringify(made));
  const [first] = made.profiles.values();
  ok(first !== undefined);
  return first;
}

function filters(profile: Profile): string {
  return profile.filter.map(({ name }) => name).join(" ");
}

function scores(profile: Profile): string {
  return profile.score.map(({ plugin, weight }) => `${plugin.name}*${weight}`).join(" ");
}

test("the default profile calls every plugin at each of its points, in list order, with its weight", () => {
  const profile = onlyProfile({});
  equal(profile.schedulerName, "default-scheduler");
  equal(filters(profile), "NodeName TaintToleration InterPodAffinity");
  equal(scores(profile), "TaintToleration*3 InterPodAffinity*2 ImageLocality*1");
  equal(profile.queueSort.name, "PrioritySort");
  deepEqual(
    [profile.preFilter, profile.bind, profile.permit].map((plugins) => plugins.map(({ name }) => name)),
    [["InterPodAffinity"], ["DefaultBinder"], []],
  );
  deepEqual(profile.plugins.map(({ name }) => name).toSorted(), [
    "DefaultBinder",
    "ImageLocality",
    "InterPodAffinity",
    "NodeName",
    "PrioritySort",
    "TaintToleration",
  ]);
});

const rows: readonly { readonly when: string; readonly plugins: WrittenPlugins; readonly filters: string; readonly scores: string }[] = [
  {
    when: "it adds a plugin at all points",
    plugins: { multiPoint: { enabled: [{ name: "Custom", weight: 5 }] } },
    filters: "NodeName TaintToleration InterPodAffinity Custom",
    scores: "TaintToleration*3 InterPodAffinity*2 ImageLocality*1 Custom*5",
  },
  {
    when: "it adds a plugin at one point, with the default weight 1",
    plugins: { score: { enabled: [{ name: "Custom" }] } },
    filters: "NodeName TaintToleration InterPodAffinity",
    scores: "TaintToleration*3 InterPodAffinity*2 ImageLocality*1 Custom*1",
  },
  {
    when: "it gives a default plugin another weight at all points: the position stays",
    plugins: { multiPoint: { enabled: [{ name: "InterPodAffinity", weight: 9 }] } },
    filters: "NodeName TaintToleration InterPodAffinity",
    scores: "TaintToleration*3 InterPodAffinity*9 ImageLocality*1",
  },
  {
    when: "it gives a default plugin another weight at its point: it comes first",
    plugins: { score: { enabled: [{ name: "Custom" }, { name: "ImageLocality", weight: 9 }] } },
    filters: "NodeName TaintToleration InterPodAffinity",
    scores: "ImageLocality*9 TaintToleration*3 InterPodAffinity*2 Custom*1",
  },
  {
    when: "it disables a default everywhere",
    plugins: { multiPoint: { disabled: [{ name: "TaintToleration" }] } },
    filters: "NodeName InterPodAffinity",
    scores: "InterPodAffinity*2 ImageLocality*1",
  },
  {
    when: "it disables a default at one point",
    plugins: { score: { disabled: [{ name: "TaintToleration" }] } },
    filters: "NodeName TaintToleration InterPodAffinity",
    scores: "InterPodAffinity*2 ImageLocality*1",
  },
  {
    when: "it disables all plugins at one point and enables some again, in its own order",
    plugins: { filter: { disabled: [{ name: "*" }], enabled: [{ name: "TaintToleration" }, { name: "NodeName" }] } },
    filters: "TaintToleration NodeName",
    scores: "TaintToleration*3 InterPodAffinity*2 ImageLocality*1",
  },
  {
    when: "it disables all plugins everywhere and enables some",
    plugins: {
      multiPoint: { disabled: [{ name: "*" }], enabled: [{ name: "DefaultBinder" }, { name: "PrioritySort" }, { name: "ImageLocality" }] },
      filter: { enabled: [{ name: "NodeName" }] },
    },
    filters: "NodeName",
    scores: "ImageLocality*1",
  },
];

for (const { when, plugins, filters: expectedFilters, scores: expectedScores } of rows) {
  test(`a profile has upstream's plugins when ${when}`, () => {
    const profile = onlyProfile({ plugins });
    deepEqual([filters(profile), scores(profile)], [expectedFilters, expectedScores]);
  });
}

test("a plugin is instantiated once per profile, with the profile's arguments or its defaults", () => {
  const made = make(
    { schedulerName: "a", pluginConfig: [{ name: "InterPodAffinity", args: { hardPodAffinityWeight: 7 } }] },
    { schedulerName: "b" },
  );
  ok(made.ok);
  const states = Array.from(made.profiles.values(), ({ preFilter: [plugin] }) => plugin?.preFilter?.(podInfo(aPod("p")), snapshotOf()));
  deepEqual(states, [
    { is: "ready", state: { hardPodAffinityWeight: 7 } },
    { is: "ready", state: { hardPodAffinityWeight: 1 } },
  ]);
  const [a] = made.profiles.values();
  equal(a?.filter[2], a?.preFilter[0]);
});

test("a plugin with only unreserve is called at reserve too", () => {
  const { reserve } = onlyProfile({ plugins: { multiPoint: { enabled: [{ name: "Holds" }] } } });
  deepEqual(
    reserve.map(({ name }) => name),
    ["Holds"],
  );
});

const beginning = "initializing profiles: creating profile for scheduler name default-scheduler: ";

for (const { plugins, says } of [
  { plugins: { multiPoint: { enabled: [{ name: "Foo" }] } }, says: 'PreFilterPlugin "Foo" does not exist' },
  { plugins: { score: { enabled: [{ name: "Foo" }] } }, says: 'ScorePlugin "Foo" does not exist' },
  { plugins: { filter: { enabled: [{ name: "ImageLocality" }] } }, says: 'plugin "ImageLocality" does not extend FilterPlugin plugin' },
  {
    plugins: { multiPoint: { disabled: [{ name: "PrioritySort" }] } },
    says: 'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
  },
  {
    plugins: { queueSort: { enabled: [{ name: "OtherSort" }] } },
    says: 'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 2',
  },
  {
    plugins: { bind: { disabled: [{ name: "*" }] } },
    says: 'at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
  },
  {
    plugins: { multiPoint: { enabled: [{ name: "NodeName" }, { name: "NodeName" }] } },
    says: 'plugin "NodeName" already registered as "FilterPlugin"',
  },
  {
    plugins: { filter: { enabled: [{ name: "NodeName" }, { name: "NodeName" }] } },
    says: 'plugin "NodeName" already registered as "FilterPlugin"',
  },
] satisfies readonly { readonly plugins: WrittenPlugins; readonly says: string }[]) {
  test(`a profile is rejected with upstream's message: ${says}`, () => {
    deepEqual(make({ plugins }), { ok: false, problems: [beginning + says] });
  });
}

test("profiles with different queueSort plugins are rejected", () => {
  const made = make(
    { schedulerName: "a" },
    { schedulerName: "b", plugins: { multiPoint: { disabled: [{ name: "PrioritySort" }], enabled: [{ name: "OtherSort" }] } } },
  );
  deepEqual(made, {
    ok: false,
    problems: ['initializing profiles: different queue sort plugins for profile "b": "OtherSort", first: "PrioritySort"'],
  });
});
