import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { PodDisruptionBudget } from "../../../api/generated/policy/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { PostFilterAnswer } from "../../framework/plugin.ts";
import { aNode, aPod, nodeInfo, podInfo, type NodeParts, type PodParts } from "../../framework/testing/builders.ts";
import { DEFAULT_ARGUMENTS } from "./arguments.ts";
import { defaultPreemption } from "./default-preemption.ts";
import { aBudget, NO_EFFECTS, preemptionIn, type PreemptionParts } from "./testing/preemption.ts";
import { whatIfOf } from "./testing/what-if.ts";

/** A node of 4 CPUs. */
function node(name: string, pods: readonly Pod[], parts: NodeParts = {}): NodeInfo {
  return nodeInfo(aNode(name, parts), ...pods);
}

/** A Pod of 1 CPU and priority 0 on a node. */
function low(name: string, parts: PodParts = {}): Pod {
  return aPod(name, { cpu: "1", priority: 0, node: "n", ...parts });
}

function high(parts: PodParts = {}): Pod {
  return aPod("high", { cpu: "2", priority: 100, ...parts });
}

interface Outcome {
  readonly answer: PostFilterAnswer;
  /** "victim for high on node". */
  readonly preempted: readonly string[];
}

async function preempt(pod: Pod, nodes: readonly NodeInfo[], parts: PreemptionParts = {}): Promise<Outcome> {
  const preempted: string[] = [];
  const effects = {
    ...NO_EFFECTS,
    preempt(victim: Pod, preemptor: Pod, nodeName: string) {
      preempted.push(`${victim.metadata.name} for ${preemptor.metadata.name} on ${nodeName}`);
      return Promise.resolve();
    },
  };
  const plugin = preemptionIn({ pods: [pod], effects, ...parts });
  const info = podInfo(pod);
  const answer = plugin.postFilter(info, whatIfOf(info, ...nodes));
  if (answer.is === "nominated") await answer.act(new AbortController().signal);
  return { answer, preempted };
}

async function victimsOf(...question: Parameters<typeof preempt>): Promise<readonly string[]> {
  return (await preempt(...question)).preempted.map((line) => line.replace(" for high on ", "@"));
}

for (const { why, nodes, parts = {}, pod = high(), victims } of [
  {
    why: "only as many as needed go",
    nodes: [node("n", [low("a"), low("b"), low("c"), low("d")])],
    victims: ["c@n", "d@n"],
  },
  {
    why: "the youngest go first",
    nodes: [
      node("n", [
        low("a", { startedAt: "2026-01-01T00:00:04Z" }),
        low("b", { startedAt: "2026-01-01T00:00:01Z" }),
        low("c"),
        low("d", { startedAt: "2026-01-01T00:00:03Z" }),
      ]),
    ],
    victims: ["a@n", "c@n"],
  },
  {
    why: "the least important go first",
    nodes: [node("n", [low("a", { priority: 1 }), low("b", { priority: 3 }), low("c", { priority: 2 }), low("d", { priority: 4 })])],
    victims: ["c@n", "a@n"],
  },
  {
    why: "a small one that was tried late may stay",
    nodes: [node("n", [low("a", { cpu: "3", priority: 1 }), low("b", { cpu: "1" })])],
    victims: ["a@n"],
  },
  {
    why: "no Pod of the same or a higher priority is evicted",
    nodes: [node("n", [low("a", { priority: 100 }), low("b", { priority: 200 }), low("c"), low("d")])],
    victims: ["c@n", "d@n"],
  },
  {
    why: "a terminating one is not evicted again",
    nodes: [node("n", [low("a", { cpu: "2" }), low("b", { deletedAt: "2026-01-01T00:00:00Z" }), low("c")])],
    victims: ["c@n"],
  },
  {
    why: "budgets are kept if another node allows it, whatever the priorities",
    nodes: [node("n", [low("a", { cpu: "4", labels: { app: "web" } })]), node("m", [low("b", { cpu: "4", priority: 50 })])],
    parts: { budgets: [aBudget("web", 0, { app: "web" })] },
    victims: ["b@m"],
  },
  {
    why: "a budget that allows one allows one, and the more important stays",
    nodes: [node("n", [low("a", { labels: { app: "web" } }), low("b", { labels: { app: "web" } }), low("c", { cpu: "2" })])],
    parts: { budgets: [aBudget("web", 1, { app: "web" })] },
    victims: ["c@n"],
  },
  {
    why: "an eviction that a budget has counted already violates nothing",
    nodes: [node("n", [low("a", { cpu: "2", labels: { app: "web" } }), low("b", { cpu: "2", priority: 1 })])],
    parts: { budgets: [aBudget("web", 0, { app: "web" }, ["a"])] },
    victims: ["a@n"],
  },
  {
    why: "a budget of another namespace, or one that selects everything, protects no Pod",
    nodes: [node("n", [low("a", { cpu: "2", labels: { app: "web" } }), low("b", { cpu: "2", priority: 1 })])],
    parts: {
      budgets: [
        aBudget("all", 0, {}),
        { ...aBudget("web", 0, { app: "web" }), metadata: { name: "web", namespace: "other" } } satisfies PodDisruptionBudget,
      ],
    },
    victims: ["a@n"],
  },
  {
    why: "budgets are violated if there is no other way",
    nodes: [node("n", [low("a", { cpu: "4", labels: { app: "web" } })])],
    parts: { budgets: [aBudget("web", 0, { app: "web" })] },
    victims: ["a@n"],
  },
  {
    why: "victims that violate a budget and others are sorted by importance",
    nodes: [node("n", [low("a", { cpu: "2", labels: { app: "web" } }), low("b", { cpu: "2", priority: 5 })])],
    pod: high({ cpu: "4" }),
    parts: { budgets: [aBudget("web", 0, { app: "web" })] },
    victims: ["b@n", "a@n"],
  },
  {
    why: "of two nodes the one with the lower highest priority",
    nodes: [node("n", [low("a", { cpu: "4", priority: 5 })]), node("m", [low("b", { priority: 4 }), low("c", { cpu: "3", priority: 4 })])],
    pod: high({ cpu: "4" }),
    victims: ["b@m", "c@m"],
  },
  {
    why: "then the one with the smaller sum of priorities",
    nodes: [
      node("n", [low("a", { cpu: "2", priority: 5 }), low("b", { cpu: "2", priority: 4 })]),
      node("m", [low("c", { cpu: "2", priority: 5 }), low("d", { cpu: "2", priority: 3 })]),
    ],
    pod: high({ cpu: "4" }),
    victims: ["c@m", "d@m"],
  },
  {
    why: "two of a negative priority are not less than one",
    nodes: [
      node("n", [low("a", { cpu: "2", priority: -5 }), low("b", { cpu: "2", priority: -5 })]),
      node("m", [low("c", { cpu: "4", priority: -5 })]),
    ],
    pod: high({ cpu: "4" }),
    victims: ["c@m"],
  },
  {
    why: "then the one where the first of the most important started last",
    nodes: [
      node("n", [low("a", { cpu: "4", startedAt: "2026-01-01T00:00:01Z" })]),
      node("m", [low("b", { cpu: "4", startedAt: "2026-01-01T00:00:03Z" })]),
      node("o", [low("c", { cpu: "4", startedAt: "2026-01-01T00:00:02Z" })]),
    ],
    victims: ["b@m"],
  },
]) {
  test(`preemption for an unschedulable Pod: ${why}`, async () => {
    for (const seed of [1, 2, 3, 4, 5]) deepEqual(await victimsOf(pod, nodes, { seed, ...parts }), victims);
  });
}

for (const { why, pod = high(), nodes, known = pod, message, clearsNomination } of [
  {
    why: "no Pod is of lower priority, or the node would be infeasible even when empty",
    pod: high({ cpu: "5" }),
    nodes: [node("a", [low("a", { priority: 100 })]), node("b", [low("b")]), node("c", [low("c")], { unschedulable: true })],
    message:
      "preemption: 0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
    clearsNomination: true,
  },
  {
    why: "all nodes are refused for good",
    nodes: [node("a", [], { unschedulable: true }), node("b", [], { unschedulable: true })],
    message: "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    clearsNomination: true,
  },
  {
    why: "its policy is to wait",
    pod: high({ preemptionPolicy: "Never" }),
    nodes: [node("n", [low("a", { cpu: "4" })])],
    message: "preemption: not eligible due to preemptionPolicy=Never.",
    clearsNomination: false,
  },
  {
    why: "its victims have not left yet",
    known: high({ nominatedNode: "n" }),
    nodes: [node("n", [leaving("a")]), node("m", [low("b", { cpu: "4" })])],
    message: "preemption: not eligible due to a terminating pod on the nominated node.",
    clearsNomination: false,
  },
  {
    why: "the Pod is gone",
    known: aPod("other"),
    nodes: [node("n", [low("a", { cpu: "4" })])],
    message: 'preemption: pod "high" not found',
    clearsNomination: false,
  },
]) {
  test(`no preemption if ${why}`, async () => {
    deepEqual((await preempt(pod, nodes, { pods: [known] })).answer, { is: "none", message, clearsNomination });
  });
}

function leaving(name: string, reason = "PreemptionByScheduler", priority = 0): Pod {
  const conditions = [{ type: "DisruptionTarget", status: "True" as const, reason, lastTransitionTime: "2026-01-01T00:00:00Z" }];
  return low(name, { cpu: "4", priority, deletedAt: "2026-01-01T00:00:00Z", status: { phase: "Running", conditions } });
}

for (const { why, nodes, nominates } of [
  { why: "is refused for good by now", nodes: [node("n", [leaving("a")], { unschedulable: true })], nominates: "m" },
  { why: "is gone", nodes: [], nominates: "m" },
  { why: "has only Pods that leave for another reason", nodes: [node("n", [leaving("a", "EvictionByEvictionAPI")])], nominates: "n" },
  {
    why: "has only Pods that leave and are as important as it is",
    nodes: [node("n", [leaving("a", "PreemptionByScheduler", 100)])],
    nominates: "m",
  },
  { why: "has only Pods as important as it is", nodes: [node("n", [low("a", { cpu: "4", priority: 100 })])], nominates: "m" },
]) {
  test(`preemption is repeated if the nominated node ${why}`, async () => {
    const { answer } = await preempt(high({ nominatedNode: "n" }), [...nodes, node("m", [low("b", { cpu: "4", priority: 1 })])]);

    equal(answer.is === "nominated" ? answer.nodeName : answer.message, nominates);
  });
}

for (const { names, message } of [
  { names: ["n"], message: 'preemption: expected at least one victim pod on node "n"' },
  {
    names: ["n", "m"],
    message: 'preemption: [expected at least one victim pod on node "m", expected at least one victim pod on node "n"]',
  },
]) {
  test(`a rejected node that is feasible with all its Pods is not a candidate (${names.length})`, () => {
    const pod = podInfo(high());
    const nodes = names.map((name) => node(name, [low("a", { cpu: "4" })]));
    const whatIf = { ...whatIfOf(pod, ...nodes), filter: () => undefined };

    deepEqual(preemptionIn({ pods: [pod.pod] }).postFilter(pod, whatIf), { is: "none", message, clearsNomination: false });
  });
}

test("the search starts at a random node, and ends when there are enough candidates", async () => {
  const nodes = Array.from({ length: 200 }, (_, index) => node(`n${index}`, [low(`a${index}`, { cpu: "4" })]));
  const pod = podInfo(high());

  const chosen = [1, 2, 3].map((seed) => {
    const whatIf = whatIfOf(pod, ...nodes);
    const answer = preemptionIn({
      pods: [pod.pod],
      seed,
      args: { minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 5 },
    }).postFilter(pod, whatIf);
    // The first is examined completely, the other nineteen only until it is clear that they are feasible and no better.
    equal(whatIf.asked(), 2 + 19);
    return answer.is === "nominated" ? answer.nodeName : answer.message;
  });

  equal(new Set(chosen).size, 3);
});

test("the search continues as long as all candidates would violate a budget", async () => {
  const web = { cpu: "4", labels: { app: "web" } };
  const nodes = Array.from({ length: 20 }, (_, index) => node(`n${index}`, [low(`a${index}`, index === 7 ? { cpu: "4" } : web)]));

  for (const seed of [1, 2, 3]) {
    const parts = {
      seed,
      budgets: [aBudget("web", 0, { app: "web" })],
      args: { minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1 },
    };
    deepEqual(await victimsOf(high(), nodes, parts), ["a7@n7"]);
  }
});

test("a node of equal cost does not displace the first one found", async () => {
  const nodes = ["n", "m", "o"].map((name) => node(name, [low(name, { cpu: "4" })]));

  const chosen = await Promise.all(Array.from({ length: 20 }, (_, seed) => victimsOf(high(), nodes, { seed })));

  deepEqual([...new Set(chosen.flat())].toSorted(), ["m@m", "n@n", "o@o"]);
});

for (const { written, read } of [
  { written: undefined, read: { ok: true, arguments: DEFAULT_ARGUMENTS } },
  {
    written: { apiVersion: "kubescheduler.config.k8s.io/v1", kind: "DefaultPreemptionArgs", minCandidateNodesAbsolute: 7 },
    read: { ok: true, arguments: { minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 7 } },
  },
  {
    written: { minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1 },
    read: {
      ok: false,
      problems: [
        "minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]",
        "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)",
      ],
    },
  },
  {
    written: { minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0 },
    read: {
      ok: false,
      problems: [
        "minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute",
        "minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage",
      ],
    },
  },
  { written: { minCandidates: 3 }, read: { ok: false, problems: ['unknown field "minCandidates"'] } },
]) {
  test(`the arguments ${JSON.stringify(written)} are ${read.ok ? "accepted" : "rejected"}`, () => {
    deepEqual(defaultPreemption.readArguments?.(written), read);
  });
}
