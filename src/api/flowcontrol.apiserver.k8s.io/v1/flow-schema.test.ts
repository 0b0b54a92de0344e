import assert from "node:assert/strict";
import test from "node:test";
import { validateDnsLabel, validateDnsSubdomain } from "../../machinery/names.ts";
import type { Json, JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, newObject, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { builtInFlowSchemas } from "./built-in.ts";
import { flowSchemas } from "./flow-schema.ts";

const [DNS_SUBDOMAIN = ""] = validateDnsSubdomain("A");
const [DNS_LABEL = ""] = validateDnsLabel("A");

const LEVEL = { priorityLevelConfiguration: { name: "p" } };
const SUBJECTS = [{ kind: "Group", group: { name: "g" } }];

test("matchingPrecedence of a FlowSchema defaults to 1000 if absent or zero", () => {
  assert.equal(newObject(flowSchemas, {}).spec?.matchingPrecedence, 1000);
  const schema = newObject(flowSchemas, { spec: { ...LEVEL, matchingPrecedence: 0 } });
  assert.equal(schema.spec?.matchingPrecedence, 1000);
  assert.equal(flowSchemas.served[0]?.defaults?.(schema), schema);
});

test("a rule without namespaces is stored with an empty list", () => {
  const rule = { verbs: ["get"], apiGroups: ["a"], resources: ["b"], clusterScope: true };
  const schema = newObject(flowSchemas, { spec: { ...LEVEL, rules: [{ subjects: SUBJECTS, resourceRules: [rule] }] } });

  assert.deepEqual(schema.spec?.rules?.[0]?.resourceRules, [{ ...rule, namespaces: null }]);
  assert.equal(flowSchemas.served[0]?.defaults?.(schema), schema);
});

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["a level alone", {}, []],
  [
    "no level",
    { priorityLevelConfiguration: {} },
    ["spec.priorityLevelConfiguration.name: Required value: must reference a priority level"],
  ],
  [
    "a name that no level has",
    { priorityLevelConfiguration: { name: "A" } },
    [`spec.priorityLevelConfiguration.name: Invalid value: "A": ${DNS_SUBDOMAIN}`],
  ],
  ["a negative precedence", { matchingPrecedence: -1 }, ["spec.matchingPrecedence: Invalid value: -1: must be a positive value"]],
  [
    'the precedence of "exempt"',
    { matchingPrecedence: 1 },
    ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
  ],
  ["the highest precedence", { matchingPrecedence: 10000 }, []],
  [
    "too high a precedence",
    { matchingPrecedence: 10001 },
    ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"],
  ],
  [
    "flows by color",
    { distinguisherMethod: { type: "ByColor" } },
    ['spec.distinguisherMethod.type: Unsupported value: {"Type":"ByColor"}: supported values: "ByNamespace", "ByUser"'],
  ],
  [
    "a rule that says nothing",
    { rules: [{}] },
    [
      "spec.rules[0].subjects: Required value: subjects must contain at least one value",
      "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
    ],
  ],
  [
    "subjects without what their kind says",
    {
      rules: [
        {
          subjects: [{ kind: "User" }, { kind: "Group" }, { kind: "ServiceAccount" }, { kind: "Node" }],
          nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/"] }],
        },
      ],
    },
    [
      "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
      "spec.rules[0].subjects[1].group: Required value: group is required when subject kind is 'Group'",
      "spec.rules[0].subjects[2].serviceAccount: Required value: serviceAccount is required when subject kind is 'ServiceAccount'",
      'spec.rules[0].subjects[3].kind: Unsupported value: "Node": supported values: "Group", "ServiceAccount", "User"',
    ],
  ],
  [
    "subjects with more than their kind says",
    {
      rules: [
        {
          subjects: [
            { kind: "User", user: { name: "a" }, group: { name: "x" }, serviceAccount: { name: "x", namespace: "x" } },
            { kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "x" }, user: { name: "a" }, group: { name: "x" } },
          ],
          nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/"] }],
        },
      ],
    },
    [
      "spec.rules[0].subjects[0].serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'",
      "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
      "spec.rules[0].subjects[1].user: Forbidden: user is forbidden when subject kind is not 'User'",
      "spec.rules[0].subjects[1].group: Forbidden: group is forbidden when subject kind is not 'Group'",
    ],
  ],
  [
    "subjects without names",
    {
      rules: [
        {
          subjects: [
            { kind: "User", user: {} },
            { kind: "Group", group: {} },
            { kind: "ServiceAccount", serviceAccount: {} },
            { kind: "ServiceAccount", serviceAccount: { name: "A", namespace: "A" } },
          ],
          nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/"] }],
        },
      ],
    },
    [
      "spec.rules[0].subjects[0].user.name: Required value",
      "spec.rules[0].subjects[1].group.name: Required value",
      "spec.rules[0].subjects[2].serviceAccount.name: Required value",
      "spec.rules[0].subjects[2].serviceAccount.namespace: Required value: must specify namespace for service account",
      `spec.rules[0].subjects[3].serviceAccount.name: Invalid value: "A": ${DNS_SUBDOMAIN}`,
      `spec.rules[0].subjects[3].serviceAccount.namespace: Invalid value: "A": ${DNS_LABEL}`,
    ],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a FlowSchema with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(flowSchemas, { spec: { ...LEVEL, ...spec } }), problems);
  });
}

const RESOURCE_ROWS: readonly [title: string, rule: Json, problems: readonly string[]][] = [
  ["everything", { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"] }, []],
  ["what is in no namespace", { verbs: ["get", "proxy"], apiGroups: ["", "apps"], resources: ["a", "b"], clusterScope: true }, []],
  [
    "nothing",
    {},
    [
      "spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value",
      "spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group",
      "spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource",
      "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
    ],
  ],
  [
    "everything and something else",
    { verbs: ["*", "get"], apiGroups: ["*", "a"], resources: ["*", "b"], namespaces: ["*", "c"] },
    [
      'spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other verbs',
      'spec.rules[0].resourceRules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other api groups',
      'spec.rules[0].resourceRules[0].resources: Invalid value: ["*","b"]: if \'*\' is present, must not specify other resources',
      'spec.rules[0].resourceRules[0].namespaces: Invalid value: ["*","c"]: if \'*\' is present, must not specify other namespaces',
    ],
  ],
  [
    "verbs and namespaces that are none",
    { verbs: ["get", "fly"], apiGroups: [""], resources: ["pods"], namespaces: ["a", "A"] },
    [
      'spec.rules[0].resourceRules[0].verbs: Unsupported value: ["get","fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
      `spec.rules[0].resourceRules[0].namespaces[1]: Invalid value: "A": each member of this list must be '*' or a DNS-1123 label; ${DNS_LABEL}`,
    ],
  ],
];

for (const [title, rule, problems] of RESOURCE_ROWS) {
  test(`a rule of resources with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(flowSchemas, { spec: { ...LEVEL, rules: [{ subjects: SUBJECTS, resourceRules: [rule] }] } }), problems);
  });
}

const PATH_ROWS: readonly [title: string, rule: Json, problems: readonly string[]][] = [
  ["everything", { verbs: ["*"], nonResourceURLs: ["*"] }, []],
  [
    "nothing",
    {},
    [
      "spec.rules[0].nonResourceRules[0].verbs: Required value: verbs must contain at least one value",
      "spec.rules[0].nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value",
    ],
  ],
  [
    "everything and something else",
    { verbs: ["*", "get"], nonResourceURLs: ["*", "/a"] },
    [
      'spec.rules[0].nonResourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other verbs',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid value: ["*","/a"]: if \'*\' is present, must not specify other non-resource URLs',
    ],
  ],
  ["paths of all kinds", { verbs: ["get"], nonResourceURLs: ["/", "/a", "/a/*", "/*"] }, []],
  [
    "paths that are none",
    { verbs: ["fly"], nonResourceURLs: ["", "a", "/a b", "/a//b", "/a*", "/*/b", "/*/*"] },
    [
      'spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "": must not be empty',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "a": must start with slash',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a b": must not contain white-space',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a//b": must not contain double slash',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/a*": wildcard can only do suffix matching',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[5]: Invalid value: "/*/b": wildcard can only do suffix matching',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[6]: Invalid value: "/*/*": wildcard can only do suffix matching',
    ],
  ],
];

for (const [title, rule, problems] of PATH_ROWS) {
  test(`a rule of paths with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfNew(flowSchemas, { spec: { ...LEVEL, rules: [{ subjects: SUBJECTS, nonResourceRules: [rule] }] } }),
      problems,
    );
  });
}

test("a mandatory FlowSchema must have its fixed spec", () => {
  const [first] = builtInFlowSchemas;
  const exempt = first?.object as JsonObject & { readonly metadata: JsonObject; readonly spec: JsonObject };

  assert.deepEqual(problemsOfNew(flowSchemas, exempt), []);
  assert.deepEqual(
    problemsOfNew(flowSchemas, {
      metadata: { name: "exempt" },
      spec: {
        ...LEVEL,
        matchingPrecedence: 1,
        rules: [
          {
            subjects: [
              { kind: "User", user: { name: "u" } },
              { kind: "ServiceAccount", serviceAccount: { name: "s", namespace: "n" } },
            ],
            resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true }],
            nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/"] }],
          },
        ],
      },
    }),
    [
      'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"p"},"MatchingPrecedence":1,"DistinguisherMethod":null,"Rules":[{"Subjects":[{"Kind":"User","User":{"Name":"u"},"Group":null,"ServiceAccount":null},{"Kind":"ServiceAccount","User":null,"Group":null,"ServiceAccount":{"Namespace":"n","Name":"s"}}],"ResourceRules":[{"Verbs":["*"],"APIGroups":["*"],"Resources":["*"],"ClusterScope":true,"Namespaces":null}],"NonResourceRules":[{"Verbs":["get"],"NonResourceURLs":["/"]}]}]}: spec of \'exempt\' must equal the fixed value',
    ],
  );
  assert.deepEqual(
    problemsOfNew(flowSchemas, { metadata: { name: "catch-all" }, spec: { ...LEVEL, distinguisherMethod: { type: "ByUser" } } }),
    [
      'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"p"},"MatchingPrecedence":1000,"DistinguisherMethod":{"Type":"ByUser"},"Rules":null}: spec of \'catch-all\' must equal the fixed value',
    ],
  );
});

test("a status write of a FlowSchema changes neither spec nor metadata, and an update keeps the status", () => {
  const previous = newObject(flowSchemas, { spec: LEVEL, status: { conditions: [{ type: "A" }] } });
  const sent = { metadata: { labels: { a: "b" } }, spec: { ...LEVEL, matchingPrecedence: 5 }, status: { conditions: [{ type: "B" }] } };

  assert.deepEqual(previous.status, {});
  const changed = changedObject(flowSchemas, previous, sent);
  assert.deepEqual([changed.spec?.matchingPrecedence, changed.status], [5, {}]);
  const reported = changedObject(flowSchemas, previous, sent, "status");
  assert.deepEqual([reported.metadata, reported.spec], [previous.metadata, previous.spec]);
  assert.equal(reported.status?.conditions?.[0]?.type, "B");
});

test("a change of the spec of a FlowSchema increments the generation, one of the labels does not", () => {
  const previous = newObject(flowSchemas, { spec: LEVEL });

  assert.equal(flowSchemas.changesGeneration?.(received(flowSchemas, { spec: { ...LEVEL, matchingPrecedence: 5 } }), previous), true);
  assert.equal(flowSchemas.changesGeneration?.(received(flowSchemas, { spec: LEVEL, metadata: { labels: { a: "b" } } }), previous), false);
});

test("conditions of a FlowSchema status have unique types", () => {
  const status = { conditions: [{ type: "A" }, { type: "A" }, {}] };

  assert.deepEqual(problemsOfChange(flowSchemas, newObject(flowSchemas, { spec: LEVEL }), { status }, "status"), [
    'status.conditions[1].type: Duplicate value: "A"',
    "status.conditions[2].type: Required value",
  ]);
});

test("the table of FlowSchemas shows whether the priority level is missing, once it is known", () => {
  const schema = newObject(flowSchemas, { spec: { ...LEVEL, distinguisherMethod: { type: "ByUser" } } });

  assert.deepEqual(cellsOf(flowSchemas, schema), {
    Name: "x",
    PriorityLevel: "p",
    MatchingPrecedence: 1000,
    DistinguisherMethod: "ByUser",
    Age: "<unknown>",
    MissingPL: "?",
  });
  const looked = { ...schema, status: { conditions: [{ type: "Dangling", status: "True" }] } };
  assert.equal(cellsOf(flowSchemas, looked)["MissingPL"], "True");
  assert.equal(cellsOf(flowSchemas, newObject(flowSchemas, { spec: LEVEL }))["DistinguisherMethod"], "<none>");
});
