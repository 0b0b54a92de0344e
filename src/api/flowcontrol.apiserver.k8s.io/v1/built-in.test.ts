import assert from "node:assert/strict";
import test from "node:test";
import { newObject, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { builtInFlowSchemas, builtInPriorityLevels, mandatoryFlowSchemaSpec, mandatoryPriorityLevelSpec } from "./built-in.ts";
import { flowSchemas } from "./flow-schema.ts";
import { priorityLevelConfigurations } from "./priority-level-configuration.ts";

/** From the list of upstream's server: name, whether mandatory, precedence, level, distinguisher, and the rules. */
const FLOW_SCHEMAS = [
  ["exempt", true, 1, "exempt", undefined, ["Group system:masters", "* */* everywhere", "* *"]],
  ["probes", false, 2, "exempt", undefined, ["Group system:unauthenticated, Group system:authenticated", "get /healthz,/readyz,/livez"]],
  [
    "system-leader-election",
    false,
    100,
    "leader-election",
    "ByUser",
    [
      "User system:kube-controller-manager, User system:kube-scheduler, ServiceAccount kube-system/*",
      "get,create,update coordination.k8s.io/leases in *",
    ],
  ],
  [
    "system-node-high",
    false,
    400,
    "node-high",
    "ByUser",
    ["Group system:nodes", "* /nodes,nodes/status everywhere", "* coordination.k8s.io/leases in *"],
  ],
  ["system-nodes", false, 500, "system", "ByUser", ["Group system:nodes", "* */* everywhere", "* *"]],
  [
    "kube-controller-manager",
    false,
    800,
    "workload-high",
    "ByNamespace",
    ["User system:kube-controller-manager", "* */* everywhere", "* *"],
  ],
  ["kube-scheduler", false, 800, "workload-high", "ByNamespace", ["User system:kube-scheduler", "* */* everywhere", "* *"]],
  ["kube-system-service-accounts", false, 900, "workload-high", "ByNamespace", ["ServiceAccount kube-system/*", "* */* everywhere", "* *"]],
  ["service-accounts", false, 9000, "workload-low", "ByUser", ["Group system:serviceaccounts", "* */* everywhere", "* *"]],
  [
    "global-default",
    false,
    9900,
    "global-default",
    "ByUser",
    ["Group system:unauthenticated, Group system:authenticated", "* */* everywhere", "* *"],
  ],
  [
    "catch-all",
    true,
    10000,
    "catch-all",
    "ByUser",
    ["Group system:unauthenticated, Group system:authenticated", "* */* everywhere", "* *"],
  ],
];

test("the built-in FlowSchemas are upstream's, in matching order", () => {
  const shown = builtInFlowSchemas.map(({ object: { metadata, spec }, mandatory }) => [
    metadata.name,
    mandatory,
    spec?.matchingPrecedence,
    spec?.priorityLevelConfiguration.name,
    spec?.distinguisherMethod?.type,
    spec?.rules?.flatMap(({ subjects, resourceRules = [], nonResourceRules = [] }) => [
      subjects
        .map(({ kind, user, group, serviceAccount }) => {
          const account = serviceAccount === undefined ? undefined : `${serviceAccount.namespace}/${serviceAccount.name}`;
          return `${kind} ${user?.name ?? group?.name ?? account}`;
        })
        .join(", "),
      ...resourceRules.map(
        ({ verbs, apiGroups, resources, clusterScope, namespaces }) =>
          `${verbs.join()} ${apiGroups.join()}/${resources.join()} ${clusterScope === true ? "everywhere" : `in ${namespaces?.join()}`}`,
      ),
      ...nonResourceRules.map(({ verbs, nonResourceURLs }) => `${verbs.join()} ${nonResourceURLs.join()}`),
    ]),
  ]);

  assert.deepEqual(shown, FLOW_SCHEMAS);
  assert.ok(builtInFlowSchemas.every(({ object }) => object.spec?.rules?.every(isInEveryNamespace)));
});

function isInEveryNamespace({
  resourceRules = [],
}: {
  readonly resourceRules?: readonly { readonly namespaces?: readonly string[] }[];
}): boolean {
  return resourceRules.every(({ namespaces }) => namespaces?.join() === "*");
}

/** Name, whether mandatory, shares, lendable percent, queues, hand size. */
const PRIORITY_LEVELS = [
  ["exempt", true, "Exempt", 0, 0, undefined, undefined, undefined],
  ["catch-all", true, "Reject", 5, 0, undefined, undefined, undefined],
  ["system", false, "Queue", 30, 33, 64, 6, 50],
  ["node-high", false, "Queue", 40, 25, 64, 6, 50],
  ["leader-election", false, "Queue", 10, 0, 16, 4, 50],
  ["workload-high", false, "Queue", 40, 50, 128, 6, 50],
  ["workload-low", false, "Queue", 100, 90, 128, 6, 50],
  ["global-default", false, "Queue", 20, 50, 128, 6, 50],
];

test("the built-in PriorityLevelConfigurations are upstream's", () => {
  const shown = builtInPriorityLevels.map(({ object: { metadata, spec }, mandatory }) => {
    const { nominalConcurrencyShares, lendablePercent } = spec?.limited ?? spec?.exempt ?? {};
    const { type, queuing } = spec?.limited?.limitResponse ?? { type: spec?.type };
    const sizes = [queuing?.queues, queuing?.handSize, queuing?.queueLengthLimit];
    return [metadata.name, mandatory, type, nominalConcurrencyShares, lendablePercent, ...sizes];
  });

  assert.deepEqual(shown, PRIORITY_LEVELS);
});

test("built-in objects are valid, have all defaults, and are annotated for automatic updates", () => {
  for (const { object } of builtInFlowSchemas) {
    const sent = object as Sent;
    assert.deepEqual(problemsOfNew(flowSchemas, sent), []);
    assert.deepEqual(newObject(flowSchemas, sent), { ...object, status: {} });
    assert.deepEqual(object.metadata.annotations, { "apf.kubernetes.io/autoupdate-spec": "true" });
  }
  for (const { object } of builtInPriorityLevels) {
    const sent = object as Sent;
    assert.deepEqual(problemsOfNew(priorityLevelConfigurations, sent), []);
    assert.deepEqual(newObject(priorityLevelConfigurations, sent), { ...object, status: {} });
    assert.deepEqual(object.metadata.annotations, { "apf.kubernetes.io/autoupdate-spec": "true" });
  }
});

test("every built-in FlowSchema references a built-in priority level", () => {
  const levels = new Set(builtInPriorityLevels.map(({ object }) => object.metadata.name));

  for (const { object } of builtInFlowSchemas)
    assert.ok(levels.has(object.spec?.priorityLevelConfiguration.name ?? ""), object.metadata.name);
});

test("only mandatory objects are fixed", () => {
  assert.equal(mandatoryFlowSchemaSpec("exempt")?.matchingPrecedence, 1);
  assert.equal(mandatoryFlowSchemaSpec("probes"), undefined);
  assert.equal(mandatoryPriorityLevelSpec("catch-all")?.limited?.nominalConcurrencyShares, 5);
  assert.equal(mandatoryPriorityLevelSpec("system"), undefined);
});
