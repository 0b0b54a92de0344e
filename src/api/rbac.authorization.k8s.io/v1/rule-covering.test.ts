import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { PolicyRule } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { describeParts, missingParts } from "./rule-covering.ts";
import { ruleAllowsName, ruleAllowsPath, ruleAllowsResource } from "./rule-matching.ts";

/** "get,list /pods,secrets a" are verbs, a group and resources, and names; "get @/healthz" verbs and a path. */
function rule(text: string): PolicyRule {
  const [verbs = "", what = "", names] = text.split(" ");
  if (what.startsWith("@")) return { verbs: verbs.split(","), nonResourceURLs: what.slice(1).split(",") };
  const slash = what.indexOf("/");
  const [groups, resources] = [what.slice(0, slash), what.slice(slash + 1)];
  const named = names === undefined ? {} : { resourceNames: names.split(",") };
  return { verbs: verbs.split(","), apiGroups: groups.split(","), resources: resources.split(","), ...named };
}

const ROWS: readonly [what: string, held: readonly string[], wanted: readonly string[], missing: readonly string[]][] = [
  ["nothing", [], [], []],
  ["the same", ["get /pods"], ["get /pods"], []],
  ["one verb more", ["get /pods"], ["get,list /pods"], ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}']],
  ["what several rules give together", ["get /pods", "list /pods", "get apps/pods"], ["get,list /pods", "get apps/pods"], []],
  ["all verbs, of which some are held", ["get,list /pods"], ["* /pods"], ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}']],
  ["anything, with everything", ["* */*"], ["get,* /pods,pods/log,*/scale,*", "get apps/x a"], []],
  ["a path, with every resource", ["* */*"], ["get @/metrics"], ['{NonResourceURLs:["/metrics"], Verbs:["get"]}']],
  ["a subresource, with that of everything", ["get /*/scale"], ["get /pods/scale"], []],
  [
    "a resource, with a subresource of everything",
    ["get /*/scale"],
    ["get /pods"],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  ["names, with all", ["get /pods"], ["get /pods a,b"], []],
  ["all, with names", ["get /pods a"], ["get /pods"], ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
  [
    "one name more",
    ["get /pods a", "get /pods b"],
    ["get,list /pods a,c"],
    [
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["list"]}',
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["c"], Verbs:["get" "list"]}',
    ],
  ],
  [
    "much, in the order of the text",
    [],
    ["list,get b,a/pods", "get,put @/b,/a"],
    [
      '{APIGroups:["a"], Resources:["pods"], Verbs:["list" "get"]}',
      '{APIGroups:["b"], Resources:["pods"], Verbs:["list" "get"]}',
      '{NonResourceURLs:["/a"], Verbs:["get"]}',
      '{NonResourceURLs:["/a"], Verbs:["put"]}',
      '{NonResourceURLs:["/b"], Verbs:["get"]}',
      '{NonResourceURLs:["/b"], Verbs:["put"]}',
    ],
  ],
  [
    "the same twice, of resources with its verbs",
    [],
    ["get /pods", "get /pods"],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get" "get"]}'],
  ],
  ["paths below a path", ["get @/a/*"], ["get @/a/b,/a/*", "get @/a/b/*"], []],
  ["a path above", ["get @/a/*"], ["get @/a"], ['{NonResourceURLs:["/a"], Verbs:["get"]}']],
];

for (const [what, held, wanted, missing] of ROWS) {
  test(`who wants ${what} lacks ${missing.length === 0 ? "nothing" : missing.join(", ")}`, () => {
    assert.deepEqual(describeParts(missingParts(held.map(rule), wanted.map(rule))), missing);
  });
}

test("a role that speaks of a milliard of things is refused in no time", () => {
  const many = (prefix: string) => Array.from({ length: 1_000 }, (_, index) => `${prefix}${index}`);
  const wanted = { verbs: many("v"), apiGroups: many("g"), resources: many("r"), resourceNames: many("n") };

  assert.equal(missingParts([], [wanted]).length, 10_000);
  assert.equal(missingParts([{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], [wanted]).length, 1);
});

test("who lacks nothing of some rules may everything that these allow", () => {
  const some = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
  const resourceRule = fc.record(
    {
      verbs: some("*", "get", "put"),
      apiGroups: some("*", "", "apps"),
      resources: some("*", "pods", "pods/log", "*/log"),
      resourceNames: some("a", "b"),
    },
    { requiredKeys: ["verbs", "apiGroups", "resources"] },
  );
  const pathRule = fc.record({ verbs: some("*", "get", "put"), nonResourceURLs: some("*", "/a", "/a/*", "/a/b", "/*") });
  const rules = fc.array(fc.oneof(resourceRule, pathRule), { maxLength: 5 }) as fc.Arbitrary<PolicyRule[]>;
  const asked = fc.record({
    verb: fc.constantFrom("get", "put", "fly"),
    group: fc.constantFrom("", "apps", "other"),
    plural: fc.constantFrom("pods", "nodes"),
    subresource: fc.constantFrom("", "log"),
    name: fc.constantFrom("", "a", "b", "c"),
    path: fc.constantFrom("/a", "/a/b", "/b"),
  });
  fc.assert(
    fc.property(rules, rules, fc.array(asked, { minLength: 20, maxLength: 20 }), (held, wanted, questions) => {
      if (missingParts(held, wanted).length > 0) return;
      for (const question of questions) {
        const allows = (all: readonly PolicyRule[]) => [
          all.some((each) => ruleAllowsResource(each, question) && ruleAllowsName(each, question.name)),
          all.some((each) => ruleAllowsPath(each, question)),
        ];
        for (const [index, allowed] of allows(wanted).entries()) if (allowed) assert.equal(allows(held)[index], true);
      }
    }),
    { seed: 1, numRuns: 2_000 },
  );
});
