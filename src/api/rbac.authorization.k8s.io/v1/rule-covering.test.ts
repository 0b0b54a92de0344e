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
  test(`granting ${what} lacks ${missing.length === 0 ? "nothing" : missing.join(", ")}`, () => {
    assert.deepEqual(describeParts(missingParts(held.map(rule), wanted.map(rule)).parts), missing);
  });
}

const EVERYTHING: PolicyRule = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };

function many(count: number, prefix: string): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

test("of a billion missing permissions the first five thousand are reported", () => {
  const wanted = { verbs: many(1_000, "v"), apiGroups: many(1_000, "g"), resources: many(1_000, "r"), resourceNames: many(1_000, "n") };
  const { parts, isUnfinished } = missingParts([], [wanted]);

  assert.deepEqual([parts.length, isUnfinished], [5_000, false]);
});

test("missing permissions are reported up to about a quarter of a million characters", () => {
  const long = "r".repeat(50_000);
  const { parts } = missingParts([], [{ verbs: many(1_000, "v"), apiGroups: [""], resources: [long] }]);

  assert.equal(parts.length, 5);
});

const TOO_MUCH: readonly [what: string, held: readonly PolicyRule[], wanted: readonly PolicyRule[]][] = [
  ["a milliard of things", [EVERYTHING], [{ verbs: many(1_000, "v"), apiGroups: many(1_000, "g"), resources: many(1_000, "r") }]],
  [
    "ten thousand things, each of which any of thousands of rules may cover",
    many(8_000, "n").map((name) => ({ verbs: ["get"], apiGroups: many(100, "g"), resources: many(100, "r"), resourceNames: [name] })),
    [{ verbs: ["get"], apiGroups: many(100, "g"), resources: many(100, "r"), resourceNames: ["n0"] }],
  ],
  [
    "thousands of paths, each of which any of thousands of patterns may cover",
    [{ verbs: ["get"], nonResourceURLs: [...many(5_000, "/a/").map((path) => `${path}/*`), "*"] }],
    [{ verbs: ["get"], nonResourceURLs: many(5_000, "/b/") }],
  ],
  ["a long name in a thousand places", [EVERYTHING], [{ verbs: ["get"], apiGroups: many(1_000, "g"), resources: ["r".repeat(1_000_000)] }]],
  ["anything, holding more than can be looked at", [{ ...EVERYTHING, verbs: many(1_000_000, "v") }], [rule("v1 /pods")]],
];

for (const [what, held, wanted] of TOO_MUCH) {
  test(`the search for ${what} is stopped early`, () => {
    assert.deepEqual(missingParts(held, wanted), { parts: [], isUnfinished: true });
  });
}

const MUCH: readonly [what: string, held: readonly PolicyRule[], wanted: readonly PolicyRule[]][] = [
  [
    "the same a million times in the lists of one rule",
    [rule("get /pods")],
    [{ verbs: ["get"], apiGroups: Array<string>(1_000).fill(""), resources: Array<string>(1_000).fill("pods") }],
  ],
  [
    "ten thousand things by many equal rules, and many times",
    Array<PolicyRule>(8_000).fill(EVERYTHING),
    Array<PolicyRule>(1_000).fill({ verbs: ["get"], apiGroups: many(100, "g"), resources: many(100, "r") }),
  ],
  ["thousands of rules, each of another resource", many(8_000, "r").map(onlyGet), many(8_000, "r").map(onlyGet)],
  [
    "thousands of rules, each of another name",
    many(8_000, "n").map((name) => ({ ...onlyGet("pods"), resourceNames: [name] })),
    many(8_000, "n").map((name) => ({ ...onlyGet("pods"), resourceNames: [name] })),
  ],
];

function onlyGet(resource: string): PolicyRule {
  return { verbs: ["get"], apiGroups: [""], resources: [resource] };
}

for (const [what, held, wanted] of MUCH) {
  test(`a user with ${what} may grant it`, () => {
    assert.deepEqual(missingParts(held, wanted), { parts: [], isUnfinished: false });
  });
}

test("stars and slashes are special in resources only, and an empty name is not all names", () => {
  const rows: readonly [held: string, wanted: string][] = [
    ["*/b /pods", "a/b /pods"],
    ["get /pods ,", "get /pods"],
  ];
  for (const [held, wanted] of rows) assert.equal(missingParts([rule(held)], [rule(wanted)]).parts.length, 1, held);
});

test("a user who lacks nothing of some rules is allowed everything that they allow", () => {
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
      const { parts, isUnfinished } = missingParts(held, wanted);
      assert.equal(isUnfinished, false);
      if (parts.length > 0) return;
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
