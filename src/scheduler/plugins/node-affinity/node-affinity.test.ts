import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { NodeAffinity, NodeSelectorTerm, Pod } from "../../../api/generated/core/v1.ts";
import { checkRetries, filtered, made, nodeEvent, problemsOf, scored } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, podInfo, snapshotOf } from "../../framework/testing/builders.ts";
import { nodeAffinity } from "./node-affinity.ts";

const plugin = made(nodeAffinity);
const unwanted = { reasons: ["node(s) didn't match Pod's node affinity/selector"], resolvable: false };
const enforced = { reasons: ["node(s) didn't match scheduler-enforced node affinity"], resolvable: false };
const conflict = { reasons: ["pod affinity terms conflict"], resolvable: false };

const ssd = nodeInfo(aNode("n1", { labels: { disk: "ssd" } }));

const FILTERED: readonly (readonly [when: string, pod: Pod, expected: unknown])[] = [
  ["the Pod demands nothing", aPod("p"), "skip"],
  [
    "the Pod only wishes",
    withAffinity({ preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: disk("hdd") }] }),
    "skip",
  ],
  ["its nodeSelector fits", aPod("p", { nodeSelector: { disk: "ssd" } }), undefined],
  ["its nodeSelector does not fit", aPod("p", { nodeSelector: { disk: "hdd" } }), unwanted],
  ["its terms fit", needing(disk("hdd"), disk("ssd")), undefined],
  ["its terms do not fit", needing(disk("hdd")), unwanted],
  ["its terms name the node", needing(named("n1")), undefined],
  ["its terms name the node and another label", needing({ ...named("n1"), ...disk("hdd") }), unwanted],
  [
    "a term names two nodes at once",
    needing({ matchFields: [...(named("n1").matchFields ?? []), ...(named("n2").matchFields ?? [])] }),
    conflict,
  ],
];

for (const [when, pod, expected] of FILTERED) {
  test(`NodeAffinity.filter when ${when}`, () => deepEqual(filtered(plugin, pod, ssd), expected));
}

for (const [when, pod, names] of [
  ["every term names one", needing(named("n1"), { ...named("n2"), ...disk("ssd") }), ["n1", "n2"]],
  ["a term names none", needing(named("n1"), disk("ssd")), undefined],
] as const) {
  test(`NodeAffinity ${names === undefined ? "does not narrow" : "narrows"} the nodes when ${when}`, () => {
    const answer = plugin.preFilter?.(podInfo(pod), snapshotOf(ssd));
    equal(answer?.is, "ready");
    deepEqual(answer?.is === "ready" && answer.nodes !== undefined ? [...answer.nodes] : undefined, names);
  });
}

const strict = made(nodeAffinity, {
  apiVersion: "kubescheduler.config.k8s.io/v1",
  kind: "NodeAffinityArgs",
  addedAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [disk("ssd")] },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 3, preference: named("n1") }],
  },
});

for (const [when, pod, node, expected] of [
  ["the node is what the profile demands", aPod("p"), ssd, undefined],
  ["the node is not what the profile demands", needing(named("n2")), nodeInfo(aNode("n2")), enforced],
  ["the node is not what the Pod demands besides", aPod("p", { nodeSelector: { zone: "a" } }), ssd, unwanted],
] as const) {
  test(`NodeAffinity.filter with addedAffinity when ${when}`, () => deepEqual(filtered(strict, pod, node), expected));
}

const nodes = [ssd, nodeInfo(aNode("n2", { labels: { disk: "hdd" } })), nodeInfo(aNode("n3"))];
const wishes: NodeAffinity = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    { weight: 4, preference: disk("ssd") },
    { weight: 1, preference: disk("hdd") },
    { weight: 2, preference: { matchExpressions: [{ key: "disk", operator: "Exists" }] } },
  ],
};

test("NodeAffinity scores by the weights of matching preferred terms, the best with 100", () => {
  deepEqual(scored(plugin, withAffinity(wishes), nodes), [100, 50, 0]);
  equal(scored(plugin, aPod("p"), nodes), "skip");
  deepEqual(scored(plugin, withAffinity({ preferredDuringSchedulingIgnoredDuringExecution: [] }), nodes), [0, 0, 0]);
});

test("NodeAffinity fails with upstream's message for an invalid preferred term", () => {
  const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 1, preference: disk("a b") }];
  throws(() => scored(plugin, withAffinity({ preferredDuringSchedulingIgnoredDuringExecution }), nodes), {
    message: `running PreScore plugin "NodeAffinity": [0].matchExpressions[0].values[0][disk]: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
  });
});

test("NodeAffinity adds the profile's preferred terms to the Pod's", () => {
  deepEqual(scored(strict, withAffinity(wishes), nodes), [100, 33, 0]);
  deepEqual(scored(strict, aPod("p"), nodes), [100, 0, 0]);
});

test("NodeAffinity reconsiders a Pod when a matching node is added, or a node starts to match", () => {
  const hdd = aNode("n1", { labels: { disk: "hdd" } });
  const rows = [
    ["a node that is meant has come", nodeEvent("added", ssd.node), true],
    ["another node has come", nodeEvent("added", hdd), false],
    ["a node is meant from now on", nodeEvent("labels", ssd.node, hdd), true],
    ["a node is not meant any more", nodeEvent("labels", hdd, ssd.node), false],
    ["a node was meant before", nodeEvent("labels", ssd.node, aNode("n1", { labels: { disk: "ssd", other: "x" } })), false],
    ["its taints changed", nodeEvent("taints", ssd.node, hdd), false],
  ] as const;
  checkRetries(plugin, aPod("p", { nodeSelector: { disk: "ssd" } }), rows);
  checkRetries(strict, aPod("p"), [
    ["a node that matches addedAffinity is added", nodeEvent("added", ssd.node), true],
    ["another node has come", nodeEvent("added", hdd), false],
  ]);
});

for (const [what, written, problems] of [
  ["nothing", undefined, []],
  ["an empty affinity", { addedAffinity: {} }, []],
  ["an unknown field", { addedAfinity: {} }, ['unknown field "addedAfinity"']],
  [
    "terms that cannot be understood",
    {
      addedAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "In" }] }] },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchFields: [{ key: "metadata.name", operator: "Gt" }] } },
        ],
      },
    },
    [
      "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
      'addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchFields[0].operator: Unsupported value: "Gt": supported values: "In", "NotIn"',
    ],
  ],
] as const) {
  test(`NodeAffinity's arguments with ${what} are ${problems.length === 0 ? "accepted" : "rejected"}`, () => {
    deepEqual(problemsOf(nodeAffinity, written), problems);
  });
}

function disk(...values: string[]): NodeSelectorTerm {
  return { matchExpressions: [{ key: "disk", operator: "In", values }] };
}

function named(name: string): NodeSelectorTerm {
  return { matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] };
}

function needing(...nodeSelectorTerms: NodeSelectorTerm[]): Pod {
  return withAffinity({ requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } });
}

function withAffinity(affinity: NodeAffinity): Pod {
  return aPod("p", { affinity: { nodeAffinity: affinity } });
}
