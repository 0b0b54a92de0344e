import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from "../../../generated/core/v1.ts";
import { describeFieldError } from "../../../machinery/field-error.ts";
import { NodeTerms, nodeNamesOf, nodeSelectorErrors, PreferredNodes, preferredNodesErrors, RequiredNodes } from "./node-selector.ts";

const NODE: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels: { disk: "ssd", cores: "8", empty: "" } } };

type Expression = readonly [key: string, operator: NodeSelectorRequirement["operator"], ...values: string[]];

const TERMS: readonly (readonly [it: string, terms: readonly NodeSelectorTerm[], matches: boolean])[] = [
  ["In, of its value", [labels(["disk", "In", "hdd", "ssd"])], true],
  ["In, of other values", [labels(["disk", "In", "hdd"])], false],
  ["NotIn, of other values", [labels(["disk", "NotIn", "hdd"])], true],
  ["NotIn, of its value", [labels(["disk", "NotIn", "ssd"])], false],
  ["NotIn, of a label that is absent", [labels(["gpu", "NotIn", "a"])], true],
  ["Exists, of an empty label", [labels(["empty", "Exists"])], true],
  ["Exists, of a label that is absent", [labels(["gpu", "Exists"])], false],
  ["DoesNotExist, of a label that is absent", [labels(["gpu", "DoesNotExist"])], true],
  ["DoesNotExist, of a label that is there", [labels(["disk", "DoesNotExist"])], false],
  ["Gt, of less", [labels(["cores", "Gt", "7"])], true],
  ["Gt, of the same", [labels(["cores", "Gt", "8"])], false],
  ["Gt is of numbers, not of texts", [labels(["cores", "Gt", "10"])], false],
  ["Lt, of more", [labels(["cores", "Lt", "10"])], true],
  ["Lt, of a label that is no number", [labels(["disk", "Lt", "10"])], false],
  ["Gt, of what is no number", [labels(["cores", "Gt", "few"])], false],
  ["Gt, of two numbers", [labels(["cores", "Gt", "1", "2"])], false],
  ["In, of no values", [labels(["disk", "In"])], false],
  ["all expressions of a term must hold", [labels(["disk", "In", "ssd"], ["cores", "Gt", "8"])], false],
  ["one term is enough", [labels(["disk", "In", "hdd"]), labels(["disk", "In", "ssd"])], true],
  ["a term that cannot be understood does not spoil the others", [labels(["disk", "Gt", "x"]), labels(["disk", "Exists"])], true],
  ["an empty term", [{}], false],
  ["no terms", [], false],
  ["its name", [fields(["metadata.name", "In", "n1"])], true],
  ["another name", [fields(["metadata.name", "In", "n2"])], false],
  ["any name but its own", [fields(["metadata.name", "NotIn", "n1"])], false],
  ["any name but another", [fields(["metadata.name", "NotIn", "n2"])], true],
  ["two names at once", [fields(["metadata.name", "In", "n1", "n2"])], false],
  ["a field by Exists", [fields(["metadata.name", "Exists"])], false],
  ["a field that nodes have not", [fields(["spec.podCIDR", "In", "n1"])], false],
  ["its name and another label", [{ ...fields(["metadata.name", "In", "n1"]), ...labels(["disk", "In", "hdd"]) }], false],
  ["its name and its label", [{ ...fields(["metadata.name", "In", "n1"]), ...labels(["disk", "In", "ssd"]) }], true],
];

for (const [it, nodeSelectorTerms, matches] of TERMS) {
  test(`a NodeSelector ${matches ? "matches" : "does not match"} the node: ${it}`, () => {
    equal(new NodeTerms({ nodeSelectorTerms }).matches(NODE), matches);
  });
}

test("a node without labels matches a selector without requirements", () => {
  const bare: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "bare" } };
  equal(new NodeTerms({ nodeSelectorTerms: [labels(["disk", "DoesNotExist"])] }).matches(bare), true);
  equal(new NodeTerms({ nodeSelectorTerms: [labels(["toString", "Exists"])] }).matches(bare), false);
});

const SPECS: readonly (readonly [it: string, spec: Partial<PodSpec>, matches: boolean])[] = [
  ["that demands nothing", {}, true],
  ["with an empty nodeSelector", { nodeSelector: {} }, true],
  ["whose nodeSelector fits", { nodeSelector: { disk: "ssd", cores: "8" } }, true],
  ["whose nodeSelector fits in part", { nodeSelector: { disk: "ssd", cores: "4" } }, false],
  ["whose terms fit", required(labels(["disk", "In", "ssd"])), true],
  ["whose terms do not fit", required(labels(["disk", "In", "hdd"])), false],
  ["whose terms are none", required(), false],
  ["whose terms fit and nodeSelector does not", { ...required(labels(["disk", "In", "ssd"])), nodeSelector: { disk: "hdd" } }, false],
  ["that only has wishes", { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } } }, true],
];

for (const [it, spec, matches] of SPECS) {
  test(`a Pod ${it} ${matches ? "fits" : "does not fit"} the node`, () => {
    equal(new RequiredNodes({ containers: [], ...spec }).matches(NODE), matches);
  });
}

test("the score of a node is the sum of the weights of matching preferred terms", () => {
  const wishes = new PreferredNodes([
    { weight: 5, preference: labels(["disk", "In", "ssd"]) },
    { weight: 7, preference: fields(["metadata.name", "In", "n1"]) },
    { weight: 20, preference: labels(["disk", "In", "hdd"]) },
    { weight: 30, preference: {} },
    { weight: 40, preference: labels(["cores", "Gt", "few"]) },
    { weight: 0, preference: labels(["disk", "Exists"]) },
  ]);
  equal(wishes.score(NODE), 12);
});

const NAMES: readonly (readonly [it: string, terms: readonly NodeSelectorTerm[], names: readonly string[] | undefined])[] = [
  ["of a term with a name", [fields(["metadata.name", "In", "a"])], ["a"]],
  ["of two terms with names", [fields(["metadata.name", "In", "a"]), fields(["metadata.name", "In", "b"])], ["a", "b"]],
  ["of a term that contradicts itself", [fields(["metadata.name", "In", "a"], ["metadata.name", "In", "b"])], []],
  ["of terms of which one names none", [fields(["metadata.name", "In", "a"]), labels(["disk", "Exists"])], undefined],
  ["of a term that only excludes a name", [fields(["metadata.name", "NotIn", "a"])], undefined],
  ["of a term with a name and labels", [{ ...fields(["metadata.name", "In", "a"]), ...labels(["disk", "Exists"]) }], ["a"]],
  ["of no terms", [], undefined],
];

for (const [it, nodeSelectorTerms, names] of NAMES) {
  test(`the node names ${it} are ${names === undefined ? "open" : `[${names.join(", ")}]`}`, () => {
    const found = nodeNamesOf({ nodeSelectorTerms });
    deepEqual(found === undefined ? undefined : [...found], names);
  });
}

test("malformed terms are reported with their path and upstream's messages", () => {
  const term = { ...labels(["disk", "In"], ["a b", "Gt", "1", "x"]), ...fields(["metadata.name", "Exists"], ["metadata.name", "In"]) };
  const odd = { matchExpressions: [{ key: "disk", operator: "Near" as "In" }] };

  const errors = [
    ...nodeSelectorErrors({ nodeSelectorTerms: [term] }, "required"),
    ...preferredNodesErrors([{ weight: 1, preference: odd }], "preferred"),
  ];

  deepEqual(errors.map(describeFieldError), [
    `required.nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`,
    `required.nodeSelectorTerms[0].matchExpressions[1].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    `required.nodeSelectorTerms[0].matchExpressions[1].values: Invalid value: ["1","x"]: for 'Gt', 'Lt' operators, exactly one value is required`,
    `required.nodeSelectorTerms[0].matchExpressions[1].values[1]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    `required.nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`,
    `required.nodeSelectorTerms[0].matchFields[1].values: Invalid value: []: must have one element`,
    `preferred[0].matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"`,
  ]);
});

function labels(...expressions: Expression[]): NodeSelectorTerm {
  return { matchExpressions: expressions.map(requirement) };
}

function fields(...expressions: Expression[]): NodeSelectorTerm {
  return { matchFields: expressions.map(requirement) };
}

function requirement([key, operator, ...values]: Expression): NodeSelectorRequirement {
  return { key, operator, values };
}

function required(...nodeSelectorTerms: NodeSelectorTerm[]): Partial<PodSpec> {
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}
