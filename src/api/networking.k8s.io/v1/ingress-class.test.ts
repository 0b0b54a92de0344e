import assert from "node:assert/strict";
import test from "node:test";
import { validateDnsLabel, validateDnsSubdomain } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { ingressClasses } from "./ingress-class.ts";

const [SUBDOMAIN = ""] = validateDnsSubdomain("A");
const [LABEL = ""] = validateDnsLabel("A");
const AT = "spec.parameters";

const served = (controller: string): Sent => ({ spec: { controller } });
const withParameters = (parameters: Json): Sent => ({ spec: { controller: "a.b/c", parameters } });
const NAMED = { kind: "K", name: "n" };

const NEW: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a controller", served("a.b/c/d"), []],
  ["no controller", {}, ["spec.controller: Required value"]],
  [
    "a controller without a domain",
    served("a"),
    ['spec.controller: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    "a controller of which both parts are wrong",
    served("A/b c"),
    [
      `spec.controller: Invalid value: "A": ${SUBDOMAIN}`,
      `spec.controller: Invalid value: "b c": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
    ],
  ],
  ["a controller that is too long", served(`a.b/${"c".repeat(247)}`), ["spec.controller: Too long: may not be more than 250 bytes"]],
  ["a controller that is just short enough", served(`a.b/${"c".repeat(246)}`), []],
  ["parameters of the cluster", withParameters(NAMED), []],
  ["parameters of a namespace", withParameters({ ...NAMED, scope: "Namespace", namespace: "x" }), []],
  ["empty parameters", withParameters({}), [`${AT}.kind: Required value`, `${AT}.name: Required value`]],
  [
    "parameters of which everything is wrong",
    withParameters({ apiGroup: "A", kind: "a/b", name: "..", scope: "x", namespace: "A" }),
    [
      `${AT}.apiGroup: Invalid value: "A": ${SUBDOMAIN}`,
      `${AT}.kind: Invalid value: "a/b": may not contain '/'`,
      `${AT}.name: Invalid value: "..": may not be '..'`,
      `${AT}.scope: Unsupported value: "x": supported values: "Cluster", "Namespace"`,
    ],
  ],
  [
    "a namespace where none exists",
    withParameters({ ...NAMED, namespace: "x" }),
    [`${AT}.namespace: Forbidden: \`parameters.scope\` is set to 'Cluster'`],
  ],
  [
    "no namespace where there is one",
    withParameters({ ...NAMED, scope: "Namespace" }),
    [`${AT}.namespace: Required value: \`parameters.scope\` is set to 'Namespace'`],
  ],
  [
    "a namespace that cannot be",
    withParameters({ ...NAMED, scope: "Namespace", namespace: "A" }),
    [`${AT}.namespace: Invalid value: "A": ${LABEL}`],
  ],
];

for (const [title, sent, problems] of NEW) {
  test(`an IngressClass with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(ingressClasses, sent), problems));
}

test("the scope of parameters defaults to Cluster", () =>
  assert.deepEqual(newObject(ingressClasses, withParameters(NAMED)).spec?.parameters, { ...NAMED, scope: "Cluster" }));

test("the controller of an IngressClass is immutable; parameters are not, and increment the generation", () => {
  const previous = newObject(ingressClasses, served("a.b/c"));

  assert.deepEqual(problemsOfChange(ingressClasses, previous, served("a.b/d")), [
    'spec.controller: Invalid value: "a.b/d": field is immutable',
  ]);
  assert.deepEqual(problemsOfChange(ingressClasses, previous, {}), [
    'spec.controller: Invalid value: "": field is immutable',
    "spec.controller: Required value",
  ]);
  assert.deepEqual(problemsOfChange(ingressClasses, previous, withParameters(NAMED)), []);
  assert.equal(ingressClasses.changesGeneration?.(newObject(ingressClasses, withParameters(NAMED)), previous), true);
});

const CELLS: readonly [sent: Sent, cells: readonly string[]][] = [
  [served("a.b/c"), ["x", "a.b/c", "<none>"]],
  [withParameters(NAMED), ["x", "a.b/c", "K/n"]],
  [
    {
      ...withParameters({ ...NAMED, apiGroup: "g" }),
      metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
    },
    ["x (default)", "a.b/c", "K.g/n"],
  ],
];

for (const [sent, shown] of CELLS) {
  test(`the table of IngressClasses shows ${shown.join(" | ")}`, () => {
    const { Name, Controller, Parameters } = cellsOf(ingressClasses, newObject(ingressClasses, sent));

    assert.deepEqual([Name, Controller, Parameters], shown);
  });
}

test("IngressClasses have the columns that kubectl expects", () =>
  assert.deepEqual(columnNames(ingressClasses), ["Name", "Controller", "Parameters", "Age"]));
