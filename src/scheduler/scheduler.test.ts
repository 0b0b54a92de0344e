import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import { startScheduledServer, type ScheduledServer } from "../testing/servers/scheduled-server.ts";
import { aNode, aPod } from "./framework/testing/builders.ts";

async function conditionOf(cluster: ScheduledServer, name: string): Promise<Record<string, unknown> | undefined> {
  const { status } = await cluster.pod(name);
  const found = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return found === undefined ? undefined : { status: found.status, reason: found.reason, message: found.message };
}

describe("events and conditions", () => {
  test("a scheduled Pod gets the event Scheduled from the scheduler that it names", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"));

    await cluster.make(aPod("p"));

    deepEqual(await cluster.places(), ["p on n1"]);
    deepEqual(await conditionOf(cluster, "p"), { status: "True", reason: undefined, message: undefined });
    const [event] = (await cluster.events()).filter(({ involvedObject }) => involvedObject.name === "p");
    const { type, reason, message, action, reportingComponent, source } = event ?? {};
    deepEqual(
      { type, reason, message, action, reportingComponent, source },
      {
        type: "Normal",
        reason: "Scheduled",
        message: "Successfully assigned default/p to n1",
        action: "Binding",
        reportingComponent: "default-scheduler",
        source: {},
      },
    );
  });

  test("an unschedulable Pod gets the reason once, in its condition and in an event", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"), aNode("n2", { cpu: "8", unschedulable: true }));

    await cluster.make(aPod("p", { cpu: "5" }));

    const message =
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    deepEqual(await conditionOf(cluster, "p"), { status: "False", reason: "Unschedulable", message });
    deepEqual(await cluster.eventsOf("p"), [`Warning FailedScheduling ${message}`]);
    deepEqual(
      cluster.scheduler
        .decisions({ namespace: "default", name: "p" })
        .map(({ outcome, refused, attempt }) => ({ outcome, refused, attempt })),
      [
        {
          outcome: "unschedulable",
          refused: [
            { plugin: "NodeResourcesFit", reason: "Insufficient cpu", nodes: 1, examples: ["n1"] },
            { plugin: "NodeUnschedulable", reason: "node(s) were unschedulable", nodes: 1, examples: ["n2"] },
          ],
          attempt: 1,
        },
      ],
    );
  });

  test("in a cluster without nodes the message says so", async () => {
    await using cluster = await startScheduledServer({}, aPod("p"));

    deepEqual(await conditionOf(cluster, "p"), {
      status: "False",
      reason: "Unschedulable",
      message: "no nodes available to schedule pods",
    });
  });
});

const LABELS = { app: "web" };
const HOST = "kubernetes.io/hostname";
const apart = {
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST, labelSelector: { matchLabels: LABELS } }] },
};
const together = {
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST, labelSelector: { matchLabels: LABELS } }] },
};
const ofTeam = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: HOST, labelSelector: { matchLabels: LABELS }, namespaceSelector: { matchLabels: { team: "a" } } },
    ],
  },
};
const TAINT = { key: "k", value: "v", effect: "NoSchedule" } as const;
const spread = [{ maxSkew: 1, topologyKey: HOST, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector: { matchLabels: LABELS } }];

/** What a user does with kubectl, or a kubelet with its node. */
type Deed = (cluster: ScheduledServer) => Promise<unknown>;
const make =
  (object: object): Deed =>
  (cluster) =>
    cluster.make(object);
const remove =
  (name: string): Deed =>
  ({ client }) =>
    client.delete(pods, { namespace: "default", name }, { gracePeriodSeconds: 0 });
const change =
  (plural: "nodes" | "pods" | "namespaces", name: string, value: object, subresource = ""): Deed =>
  async ({ server }) => {
    const path = `/api/v1/${plural === "pods" ? "namespaces/default/pods" : plural}/${name}${subresource}`;
    const { code, text } = await server.call("PATCH", path, JSON.stringify(value), { "content-type": "application/merge-patch+json" });
    equal(code, 200, text);
  };
const allocatable = (cpu: string, memory = "32Gi") => ({
  status: { allocatable: { cpu, memory, pods: "110" }, capacity: { cpu, memory } },
});
const namespace = (name: string, labels: Readonly<Record<string, string>>) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});

describe("a rejected Pod is retried when a helpful event happens, and not otherwise", () => {
  interface Row {
    /** Beside node n1 with 4 CPUs. */
    readonly given: readonly object[];
    readonly waits: object;
    /** Each helps: the Pod is placed at once. */
    readonly helps: Readonly<Record<string, Deed>>;
    /** None triggers an attempt. */
    readonly others: Readonly<Record<string, Deed>>;
  }
  const rows: Readonly<Record<string, Row>> = {
    "for want of CPU": {
      given: [aNode("n1"), aPod("a", { node: "n1", cpu: "3" }), aPod("b", { node: "n1" })],
      waits: aPod("w", { cpu: "2" }),
      helps: {
        "a node with room is added": make(aNode("n2")),
        "a Pod that has what it needs is deleted": remove("a"),
        "the node grows": change("nodes", "n1", allocatable("6"), "/status"),
        "a Pod shrinks": change(
          "pods",
          "a",
          { spec: { containers: [{ name: "c0", image: "web", resources: { requests: { cpu: "1" } } }] } },
          "/resize",
        ),
      },
      others: {
        "a node that is too small is added": make(aNode("n2", { cpu: "1" })),
        "the node gets more of what it does not need": change("nodes", "n1", allocatable("4", "64Gi"), "/status"),
        "a label of the node changes": change("nodes", "n1", { metadata: { labels: { a: "b" } } }),
        "a taint comes": change("nodes", "n1", { spec: { taints: [{ key: "x", effect: "PreferNoSchedule" }] } }),
        "a Pod's label changes": change("pods", "a", { metadata: { labels: { a: "b" } } }),
        "its own label changes": change("pods", "w", { metadata: { labels: { a: "b" } } }),
        "another namespace comes": make(namespace("other", {})),
        "a Pod is placed": make(aPod("c")),
      },
    },
    "for a label that no node has": {
      given: [aNode("n1"), aPod("a", { node: "n1", cpu: "1" })],
      waits: aPod("w", { nodeSelector: { disk: "ssd" } }),
      helps: {
        "the node gets it": change("nodes", "n1", { metadata: { labels: { disk: "ssd" } } }),
        "a node with it is added": make(aNode("n2", { labels: { disk: "ssd" } })),
      },
      others: {
        "the node gets another": change("nodes", "n1", { metadata: { labels: { disk: "hdd" } } }),
        "a Pod is deleted": remove("a"),
        "the node grows": change("nodes", "n1", allocatable("6"), "/status"),
        "a node without it is added": make(aNode("n2")),
      },
    },
    "for a taint": {
      given: [aNode("n1", { taints: [TAINT] }), aPod("a", { node: "n1" })],
      waits: aPod("w"),
      helps: {
        "the taint goes": change("nodes", "n1", { spec: { taints: null } }),
        "it tolerates it from now on": change("pods", "w", { spec: { tolerations: [{ key: "k", operator: "Exists" }] } }),
      },
      others: {
        "another taint comes": change("nodes", "n1", { spec: { taints: [TAINT, { ...TAINT, key: "l" }] } }),
        "a Pod is deleted": remove("a"),
        "its own label changes": change("pods", "w", { metadata: { labels: { a: "b" } } }),
      },
    },
    "since the node is cordoned": {
      given: [aNode("n1", { unschedulable: true })],
      waits: aPod("w"),
      helps: { "it is uncordoned": change("nodes", "n1", { spec: { unschedulable: null } }) },
      others: { "its labels change": change("nodes", "n1", { metadata: { labels: { a: "b" } } }) },
    },
    "for a port": {
      given: [aNode("n1"), aPod("a", { node: "n1", ports: [80] }), aPod("b", { node: "n1", ports: [81] })],
      waits: aPod("w", { ports: [80] }),
      helps: { "who has it is deleted": remove("a"), "a node is added": make(aNode("n2")) },
      others: { "who has another is deleted": remove("b"), "the node grows": change("nodes", "n1", allocatable("6"), "/status") },
    },
    "for its anti-affinity": {
      given: [aNode("n1"), aPod("a", { node: "n1", labels: LABELS }), aPod("b", { node: "n1" })],
      waits: aPod("w", { affinity: apart }),
      helps: {
        "who it avoids is deleted": remove("a"),
        "who it avoids is called otherwise": change("pods", "a", { metadata: { labels: { app: "db" } } }),
        "a node is added": make(aNode("n2")),
      },
      others: { "another Pod is deleted": remove("b"), "another Pod is placed": make(aPod("c")) },
    },
    "for its affinity": {
      given: [aNode("n1"), aPod("a", { node: "n1" })],
      waits: aPod("w", { affinity: together }),
      helps: {
        "who it follows is placed": make(aPod("c", { labels: LABELS })),
        "one is called so from now on": change("pods", "a", { metadata: { labels: LABELS } }),
      },
      others: { "another Pod is placed": make(aPod("c")), "another Pod is deleted": remove("a") },
    },
    "for its affinity to Pods of namespaces with a label": {
      given: [namespace("other", {}), aNode("n1"), aPod("a", { namespace: "other", node: "n1", labels: LABELS })],
      waits: aPod("w", { affinity: ofTeam }),
      helps: { "the namespace gets it": change("namespaces", "other", { metadata: { labels: { team: "a" } } }) },
      others: { "the namespace gets another": change("namespaces", "other", { metadata: { labels: { team: "b" } } }) },
    },
    "for its spread": {
      given: [aNode("n1"), aNode("n2", { unschedulable: true }), aPod("a", { node: "n1", labels: LABELS }), aPod("b", { node: "n1" })],
      waits: aPod("w", { labels: LABELS, spread: [{ ...spread[0], nodeTaintsPolicy: "Ignore" } as (typeof spread)[0]] }),
      helps: {
        "one of its kind is deleted": remove("a"),
        "the other node is uncordoned": change("nodes", "n2", { spec: { unschedulable: null } }),
        "one of its kind is called otherwise": change("pods", "a", { metadata: { labels: { app: "db" } } }),
      },
      others: { "another Pod is deleted": remove("b"), "the node grows": change("nodes", "n1", allocatable("6"), "/status") },
    },
    "since there is no node": {
      given: [],
      waits: aPod("w"),
      helps: { "one is added": make(aNode("n1")) },
      others: { "its own label changes": change("pods", "w", { metadata: { labels: { a: "b" } } }) },
    },
  };

  for (const [why, { given, waits, helps, others }] of Object.entries(rows)) {
    describe(`it waits ${why}`, () => {
      const deeds = [
        ...Object.entries(helps).map((deed) => [...deed, true] as const),
        ...Object.entries(others).map((deed) => [...deed, false] as const),
      ];
      for (const [what, deed, isHelp] of deeds) {
        test(`${what}: ${isHelp ? "it is placed" : "it is not retried"}`, async () => {
          await using cluster = await startScheduledServer({}, ...given, waits);
          equal((await cluster.pod("w")).spec?.nodeName, undefined);
          // Beyond its backoff, so that the next one is not delayed by it.
          await cluster.clock.advance(20_000);
          const tried = () => cluster.scheduler.waiting({ namespace: "default", name: "w" })?.attempts ?? 0;
          equal(tried(), 1);

          await deed(cluster);
          await cluster.clock.settle();

          equal((await cluster.pod("w")).spec?.nodeName !== undefined, isHelp);
          if (!isHelp) equal(tried(), 1);
        });
      }
    });
  }

  test("without events it is retried after five minutes, without a repeated event", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"), aPod("w", { cpu: "5" }));
    const before = await cluster.pod("w");
    await cluster.clock.advance(5 * 60_000 - 1);
    equal(cluster.attempts(), 1);

    await cluster.clock.advance(1);

    equal(cluster.attempts(), 2);
    equal((await cluster.pod("w")).metadata.resourceVersion, before.metadata.resourceVersion);
  });
});

test("a gated Pod is not attempted before its last gate is removed", async () => {
  await using cluster = await startScheduledServer({}, aNode("n1"), aPod("p", { gates: ["a", "b"] }));
  await cluster.clock.advance(10 * 60_000);
  const ungate = (...left: readonly string[]) =>
    change("pods", "p", { spec: { schedulingGates: left.map((name) => ({ name })) } })(cluster);
  equal(cluster.scheduler.waiting({ namespace: "default", name: "p" })?.gatedBy, "SchedulingGates");
  equal((await conditionOf(cluster, "p"))?.["reason"], "SchedulingGated");

  await ungate("b");
  await cluster.clock.settle();
  deepEqual([await cluster.places(), cluster.attempts()], [["p waits"], 0]);

  await ungate();
  await cluster.clock.settle();
  deepEqual([await cluster.places(), cluster.attempts()], [["p on n1"], 1]);
});

test("waiting Pods are attempted by priority, then by age", async () => {
  const waits = (name: string, priority: number) => aPod(name, { priority, cpu: "1", preemptionPolicy: "Never" });
  await using cluster = await startScheduledServer({}, waits("low", 1), waits("first", 5), waits("second", 5), waits("high", 9));

  await cluster.make(aNode("n1", { cpu: "3" }));

  deepEqual(await cluster.places(), ["first on n1", "high on n1", "low waits", "second on n1"]);
  // Written in the order of recording.
  const bound = (await cluster.events()).filter(({ reason }) => reason === "Scheduled").map(({ involvedObject }) => involvedObject.name);
  deepEqual(bound.join(" "), "high first second");
});

test("Pods of other schedulers are not scheduled, but count on their nodes", async () => {
  await using cluster = await startScheduledServer({}, aNode("n1"), aPod("other", { schedulerName: "another" }));
  await cluster.make(aPod("placed", { schedulerName: "another", cpu: "3", node: "n1" }), aPod("mine", { cpu: "2" }));

  await cluster.clock.advance(10 * 60_000);

  deepEqual(await cluster.places(), ["mine waits", "other waits", "placed on n1"]);
  deepEqual([await cluster.eventsOf("other"), await conditionOf(cluster, "other")], [[], undefined]);
  equal(cluster.scheduler.waiting({ namespace: "default", name: "other" }), undefined);
});

test("each profile schedules its own Pods, with its own plugins and under its own name", async () => {
  const configuration = {
    profiles: [
      { schedulerName: "default-scheduler" },
      { schedulerName: "careless", plugins: { multiPoint: { disabled: [{ name: "NodeUnschedulable" }] } } },
    ],
  };
  await using cluster = await startScheduledServer({ configuration }, aNode("n1", { unschedulable: true }));

  await cluster.make(aPod("p"), aPod("q", { schedulerName: "careless" }), aPod("r", { schedulerName: "unknown" }));

  deepEqual(cluster.scheduler.schedulerNames, ["default-scheduler", "careless"]);
  deepEqual(await cluster.places(), ["p waits", "q on n1", "r waits"]);
  const who = (await cluster.events()).map(({ involvedObject, reason, reportingComponent }) =>
    [involvedObject.name, reason, reportingComponent].join(" "),
  );
  deepEqual(who.toSorted(), ["p FailedScheduling default-scheduler", "q Scheduled careless"]);
  match((await cluster.eventsOf("p"))[0] ?? "", /1 node\(s\) were unschedulable/);
});

test("a stopped scheduler does nothing more, and a new one continues from current state", async () => {
  await using cluster = await startScheduledServer({}, aNode("n1"), aPod("a", { cpu: "3" }));
  await cluster.scheduler.stop();
  await cluster.make(aPod("b", { cpu: "1" }), aPod("c", { cpu: "1" }));
  await cluster.clock.advance(60_000);
  deepEqual(await cluster.places(), ["a on n1", "b waits", "c waits"]);

  const next = await cluster.start();

  deepEqual(await cluster.places(), ["a on n1", "b on n1", "c waits"]);
  await next.stop();
});
