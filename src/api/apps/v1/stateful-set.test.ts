import assert from "node:assert/strict";
import test from "node:test";
import type { StatefulSet } from "../../generated/apps/v1.ts";
import { validateQualifiedName } from "../../machinery/names.ts";
import type { JsonObject } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problems as textsOf,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
} from "../../testing/kind.ts";
import { statefulSets } from "./stateful-set.ts";

const CONTAINERS: JsonObject = { containers: [{ name: "c", image: "i" }] };
const TEMPLATE: JsonObject = { metadata: { labels: { a: "b" } }, spec: CONTAINERS };
const SPEC: JsonObject = { selector: { matchLabels: { a: "b" } }, template: TEMPLATE, serviceName: "s" };
const CLAIM_SPEC: JsonObject = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const CLAIM: JsonObject = { metadata: { name: "data" }, spec: CLAIM_SPEC };
const SOURCE: JsonObject = { kind: "PersistentVolumeClaim", name: "a" };

test("a StatefulSet gets its defaults, idempotently, down to those of its claims", () => {
  const statefulSet = received(statefulSets, { spec: { ...SPEC, volumeClaimTemplates: [CLAIM] } });

  const { template: _template, selector: _selector, ...rest } = statefulSet.spec ?? {};
  assert.deepEqual(rest, {
    serviceName: "s",
    replicas: 1,
    podManagementPolicy: "OrderedReady",
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
    revisionHistoryLimit: 10,
    volumeClaimTemplates: [
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeMode: "Filesystem" },
        status: { phase: "Pending" },
      },
    ],
  });
  assert.equal(statefulSets.served[0]?.defaults?.(statefulSet), statefulSet);
});

const STRATEGIES: readonly [title: string, sent: JsonObject, kept: JsonObject][] = [
  ["named without steps", { type: "RollingUpdate" }, { type: "RollingUpdate" }],
  ["of another kind", { type: "OnDelete" }, { type: "OnDelete" }],
  ["with a step", { rollingUpdate: { partition: 2 } }, { type: "RollingUpdate", rollingUpdate: { partition: 2 } }],
];

for (const [title, sent, kept] of STRATEGIES) {
  test(`a StatefulSet strategy that is ${title} gets only the defaults it needs`, () => {
    assert.deepEqual(received(statefulSets, { spec: { ...SPEC, updateStrategy: sent } }).spec?.updateStrategy, kept);
  });
}

test("maxUnavailable of a StatefulSet is kept on create and on update, and has no default", () => {
  const sent = { spec: { ...SPEC, updateStrategy: { rollingUpdate: { partition: 1, maxUnavailable: 2 } } } };
  const created = newObject(statefulSets, sent);

  assert.deepEqual(created.spec?.updateStrategy?.rollingUpdate, { partition: 1, maxUnavailable: 2 });
  assert.deepEqual(changedObject(statefulSets, created, sent).spec?.updateStrategy?.rollingUpdate, { partition: 1, maxUnavailable: 2 });
  assert.deepEqual(newObject(statefulSets, { spec: SPEC }).spec?.updateStrategy?.rollingUpdate, { partition: 0 });
});

type Row = readonly [title: string, change: JsonObject, problems: readonly string[]];

const ROWS: readonly Row[] = [
  ["its defaults", {}, []],
  ["no Service", { serviceName: "" }, []],
  [
    "numbers below none",
    { replicas: -1, minReadySeconds: -1, ordinals: { start: -1 } },
    [
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
    ],
  ],
  [
    "an unknown order",
    { podManagementPolicy: "Foo" },
    ["spec.podManagementPolicy: Invalid value: \"Foo\": must be 'OrderedReady' or 'Parallel'"],
  ],
  [
    "an unknown strategy",
    { updateStrategy: { type: "Foo", rollingUpdate: { partition: 3 } } },
    [
      'spec.updateStrategy: Invalid value: {"Type":"Foo","RollingUpdate":{"Partition":3,"MaxUnavailable":null}}: must be \'RollingUpdate\' or \'OnDelete\'',
    ],
  ],
  [
    "steps of another strategy",
    { updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 3 } } },
    [
      'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":3,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
    ],
  ],
  [
    "a step below none",
    { updateStrategy: { rollingUpdate: { partition: -1 } } },
    ["spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0"],
  ],
  ["several Pods updated at a time", { updateStrategy: { rollingUpdate: { maxUnavailable: "30%" } } }, []],
  [
    "no Pod updated at a time",
    { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    ["spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"],
  ],
  [
    "fewer Pods updated at a time than none",
    { updateStrategy: { rollingUpdate: { maxUnavailable: -1 } } },
    ["spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"],
  ],
  [
    "more Pods updated at a time than all",
    { updateStrategy: { rollingUpdate: { maxUnavailable: "101%" } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  ],
  [
    "a text of Pods updated at a time",
    { updateStrategy: { rollingUpdate: { maxUnavailable: "x" } } },
    [
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "x": cannot be 0',
    ],
  ],
  [
    "unknown fates of claims",
    { persistentVolumeClaimRetentionPolicy: { whenDeleted: "x", whenScaled: "y" } },
    [
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "x": supported values: "Retain", "Delete"',
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "y": supported values: "Retain", "Delete"',
    ],
  ],
  [
    "a Service that cannot be called so",
    { serviceName: "A_b" },
    [
      "spec.serviceName: Invalid value: \"A_b\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "no selector",
    { selector: null },
    [
      "spec.selector: Required value",
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  ],
  ["an empty selector", { selector: {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for statefulset"]],
  [
    "a selector that misses its template",
    { selector: { matchLabels: { a: "c" } } },
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  [
    "a selector that makes no sense",
    { selector: { matchExpressions: [{ key: "a", operator: "Foo" }] } },
    [
      'spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Foo"}]}',
    ],
  ],
  [
    "Pods that end",
    { template: { ...TEMPLATE, spec: { ...CONTAINERS, restartPolicy: "Never", activeDeadlineSeconds: 5 } } },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported",
    ],
  ],
  [
    "labels and annotations that are none, which is said twice",
    { template: { metadata: { labels: { a: "b", x: "y z" }, annotations: { "k k": "v" } }, spec: CONTAINERS } },
    [
      "spec.template.labels: Invalid value: \"y z\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      "spec.template.annotations: Invalid value: \"k k\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      "spec.template.labels: Invalid value: \"y z\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      "spec.template.annotations: Invalid value: \"k k\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "host names that its controller overwrites",
    { template: { ...TEMPLATE, spec: { ...CONTAINERS, hostname: "A_b", subdomain: "C_d" } } },
    [],
  ],
  [
    "a claim that says nothing",
    { volumeClaimTemplates: [{ metadata: { name: "data" }, spec: {} }] },
    [
      "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
      "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
    ],
  ],
  [
    "labels whose keys are none, which is said twice",
    { template: { metadata: { labels: { a: "b", "A/b": "c" } }, spec: CONTAINERS } },
    [
      "spec.template.labels: Invalid value: \"A/b\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "spec.template.labels: Invalid value: \"A/b\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "a claim with two sources that differ",
    { volumeClaimTemplates: [{ ...CLAIM, spec: { ...CLAIM_SPEC, dataSource: SOURCE, dataSourceRef: { ...SOURCE, name: "b" } } }] },
    ["spec.volumeClaimTemplates[0].spec: Invalid value: {}: must match dataSourceRef"],
  ],
  [
    "a claim with two sources, one of them elsewhere",
    { volumeClaimTemplates: [{ ...CLAIM, spec: { ...CLAIM_SPEC, dataSource: SOURCE, dataSourceRef: { ...SOURCE, namespace: "n" } } }] },
    ["spec.volumeClaimTemplates[0].spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified"],
  ],
  [
    "a claim that cannot be called so in a Pod",
    { volumeClaimTemplates: [{ ...CLAIM, metadata: { name: "a.b" } }] },
    ['spec.template.spec.volumes[0].name: Invalid value: "a.b": must not contain dots'],
  ],
  [
    "a mount of a claim, and one of nothing",
    {
      volumeClaimTemplates: [CLAIM],
      template: {
        ...TEMPLATE,
        spec: {
          containers: [
            {
              name: "c",
              image: "i",
              volumeMounts: [
                { name: "data", mountPath: "/a" },
                { name: "none", mountPath: "/b" },
              ],
            },
          ],
          volumes: [{ name: "data" }],
        },
      },
    },
    ['spec.template.spec.containers[0].volumeMounts[1].name: Not found: "none"'],
  ],
];

for (const [title, change, problems] of ROWS) {
  test(`a StatefulSet with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(statefulSets, { spec: { ...SPEC, ...change } }), problems);
  });
}

test("an invalid Pod label is reported twice, as upstream does", () => {
  const template = { ...TEMPLATE, metadata: { labels: { a: "b", "-": "c" } } };
  const problem = `spec.template.labels: Invalid value: "-": ${validateQualifiedName("-").join("")}`;

  assert.deepEqual(problemsOfNew(statefulSets, { spec: { ...SPEC, template } }), [problem, problem]);
});

const PROFILE = "seccomp.security.alpha.kubernetes.io/pod";
const ARMOR = "container.apparmor.security.beta.kubernetes.io/";

const ANNOTATIONS: readonly [key: string, value: string, problems: readonly string[]][] = [
  [
    "kubernetes.io/config.mirror",
    "x",
    [
      'spec.template.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
      'spec.template.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
    ],
  ],
  [
    "controller.kubernetes.io/pod-deletion-cost",
    "+1",
    [
      'spec.template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
      'spec.template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
    ],
  ],
  [
    PROFILE,
    "foo",
    [
      'spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "foo": must be a valid seccomp profile',
      'spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "foo": must be a valid seccomp profile',
    ],
  ],
  [
    PROFILE,
    "localhost//a",
    [
      'spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "/a": must be a relative path',
      'spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "/a": must be a relative path',
    ],
  ],
  [
    PROFILE,
    "localhost/../a",
    [
      "spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"../a\": must not contain '..'",
      "spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"../a\": must not contain '..'",
    ],
  ],
  [
    `${ARMOR}d`,
    "unconfined",
    [
      'spec.template.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: "d": container not found',
      'spec.template.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: "d": container not found',
    ],
  ],
  [
    `${ARMOR}c`,
    "foo",
    [
      'spec.template.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "foo": invalid AppArmor profile name: "foo"',
      'spec.template.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "foo": invalid AppArmor profile name: "foo"',
    ],
  ],
  [
    "a b",
    "x",
    [
      "spec.template.annotations: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      "spec.template.annotations: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
];

for (const [key, value, problems] of ANNOTATIONS) {
  test(`a StatefulSet template with the annotation ${key}: ${value} is rejected, twice`, () => {
    const template = { metadata: { labels: { a: "b" }, annotations: { [key]: value } }, spec: CONTAINERS };

    assert.deepEqual(problemsOfNew(statefulSets, { spec: { ...SPEC, template } }), problems);
  });
}

test("replicas and selector of a StatefulSet are required", () => {
  const statefulSet = newObject(statefulSets, { spec: SPEC });
  const bare = { ...statefulSet, spec: { ...statefulSet.spec, podManagementPolicy: "", updateStrategy: {} } } as unknown as StatefulSet;

  assert.deepEqual(textsOf(statefulSets.validate?.(bare) ?? []), [
    "spec.podManagementPolicy: Required value",
    "spec.updateStrategy: Required value",
  ]);
});

test("the name of a StatefulSet must be a host name", () => {
  assert.deepEqual(statefulSets.validateName?.("a.b"), ["must not contain dots"]);
});

const CHANGES: readonly Row[] = [
  [
    "what may change",
    {
      replicas: 3,
      minReadySeconds: 3,
      ordinals: { start: 1 },
      revisionHistoryLimit: 3,
      updateStrategy: { type: "OnDelete" },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" },
      template: { ...TEMPLATE, spec: { ...CONTAINERS, hostPID: true } },
    },
    [],
  ],
  [
    "its Service, which is not looked at again",
    { serviceName: "A_b" },
    [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  ],
  [
    "its order",
    { podManagementPolicy: "Parallel" },
    [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  ],
  [
    "its claims",
    { volumeClaimTemplates: [{ metadata: { name: "other" } }] },
    [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  ],
  [
    "its selector",
    { selector: { matchLabels: { a: "b", c: "d" } }, template: { ...TEMPLATE, metadata: { labels: { a: "b", c: "d" } } } },
    [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  ],
];

for (const [title, change, problems] of CHANGES) {
  test(`a change of a StatefulSet's ${title} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    const previous = newObject(statefulSets, { spec: SPEC });

    assert.deepEqual(problemsOfChange(statefulSets, previous, { spec: { ...SPEC, ...change } }), problems);
    assert.equal(statefulSets.changesGeneration?.(changedObject(statefulSets, previous, { spec: { ...SPEC, ...change } }), previous), true);
  });
}

test("the counts of a StatefulSet status must be consistent, and collisionCount must not decrease", () => {
  const previous = { ...newObject(statefulSets, { spec: SPEC }), status: { replicas: 0, collisionCount: 3 } };
  const sent = (status: JsonObject) => ({ spec: SPEC, status });
  const names = [
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
  ];
  const negative = Object.fromEntries(names.map((name) => [name, -1]));
  const many = { replicas: 1, readyReplicas: 2, currentReplicas: 3, updatedReplicas: 4, availableReplicas: 5, collisionCount: 3 };

  assert.deepEqual(problemsOfChange(statefulSets, previous, sent(negative), "status"), [
    "status.replicas: Invalid value: -1: must be greater than or equal to 0",
    "status.readyReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.currentReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.updatedReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.availableReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0",
    "status.collisionCount: Invalid value: -1: must be greater than or equal to 0",
    "status.collisionCount: Invalid value: -1: cannot be decremented",
  ]);
  assert.deepEqual(problemsOfChange(statefulSets, previous, sent(many), "status"), [
    "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
    "status.currentReplicas: Invalid value: 3: cannot be greater than status.replicas",
    "status.updatedReplicas: Invalid value: 4: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 5: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 5: cannot be greater than status.readyReplicas",
  ]);
  assert.deepEqual(problemsOfChange(statefulSets, previous, sent({ replicas: 1 }), "status"), [
    "status.collisionCount: Invalid value: 0: cannot be decremented",
  ]);
});

test("a status write of a StatefulSet keeps the spec, and an update keeps the status", () => {
  const previous = newObject(statefulSets, { spec: SPEC });

  assert.deepEqual(previous.status, { replicas: 0, availableReplicas: 0 });
  assert.equal(changedObject(statefulSets, previous, { spec: {}, status: { replicas: 2 } }, "status").spec, previous.spec);
  assert.equal(changedObject(statefulSets, previous, { spec: SPEC, status: { replicas: 2 } }).status, previous.status);
});

test("a suspicious template, claim or history limit of a StatefulSet produces warnings", () => {
  const half = {
    ...CLAIM,
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "500m" }, limits: { storage: "1500m" } } },
  };
  const odd = {
    ...SPEC,
    template: { ...TEMPLATE, spec: { ...CONTAINERS, nodeSelector: { "beta.kubernetes.io/os": "x" } } },
    volumeClaimTemplates: [half],
    revisionHistoryLimit: -1,
  };
  const previous = newObject(statefulSets, { spec: odd });

  assert.deepEqual(warningsOfNew(statefulSets, { spec: odd }), [
    'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer',
    'spec.volumeClaimTemplates[0].resources.limits[storage]: fractional byte value "1500m" is invalid, must be an integer',
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
  ]);
  assert.deepEqual(
    [...(statefulSets.warnings?.(previous, previous) ?? [])],
    [
      'spec.volumeClaimTemplates[0].Spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer',
      'spec.volumeClaimTemplates[0].Spec.resources.limits[storage]: fractional byte value "1500m" is invalid, must be an integer',
      "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
    ],
  );
});

test("a StatefulSet has a Scale", () => {
  const { scale } = statefulSets.subresources;
  assert.equal(scale?.of, "scale");
  const statefulSet = newObject(statefulSets, { spec: SPEC });

  assert.deepEqual(scale.read(statefulSet), { specReplicas: 1, statusReplicas: 0, selector: "a=b" });
  assert.equal(scale.write(statefulSet, 5).spec?.replicas, 5);
});

test("the table of StatefulSets shows the ready Pods", () => {
  const statefulSet = { ...newObject(statefulSets, { spec: { ...SPEC, replicas: 3 } }), status: { replicas: 3, readyReplicas: 2 } };

  assert.deepEqual(columnNames(statefulSets), ["Name", "Ready", "Age", "Containers*", "Images*"]);
  assert.deepEqual(Object.values(cellsOf(statefulSets, statefulSet)), ["x", "2/3", "<unknown>", "c", "i"]);
});
