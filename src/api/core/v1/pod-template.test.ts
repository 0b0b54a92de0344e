import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, received, warningsOfNew } from "../../testing/kind.ts";
import { podTemplates } from "./pod-template.ts";

const CONTAINERS: JsonObject = { containers: [{ name: "c", image: "i" }] };
const TEMPLATE: JsonObject = { metadata: { labels: { b: "c", a: "b" } }, spec: CONTAINERS };

test("a PodTemplate gets the defaults of templates, idempotently", () => {
  const podTemplate = received(podTemplates, { template: TEMPLATE });

  assert.equal(podTemplate.template?.spec?.dnsPolicy, "ClusterFirst");
  assert.equal(podTemplates.served[0]?.defaults?.(podTemplate), podTemplate);
});

const ROWS: readonly [title: string, template: JsonObject, problems: readonly string[]][] = [
  ["a container", TEMPLATE, []],
  ["nothing", {}, ["template.spec.containers: Required value"]],
  [
    "labels that are none",
    { ...TEMPLATE, metadata: { labels: { a: "b c" } } },
    [
      "template.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  [
    "labels whose keys are none",
    { ...TEMPLATE, metadata: { labels: { "A/b": "c", "a b": "c", "": "c" } } },
    [
      "template.labels: Invalid value: \"A/b\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "template.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      'template.labels: Invalid value: "": name part must be non-empty',
      "template.labels: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "a container that is only added to Pods that run",
    { ...TEMPLATE, spec: { ...CONTAINERS, ephemeralContainers: [{ name: "e", image: " i" }] } },
    [
      'template.spec.ephemeralContainers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
      "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
    ],
  ],
  [
    "an unknown policy",
    { ...TEMPLATE, spec: { ...CONTAINERS, restartPolicy: "Foo" } },
    ['template.spec.restartPolicy: Unsupported value: "Foo": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    "a container that is a process of its host beside one that is not",
    {
      spec: {
        hostNetwork: true,
        containers: [
          { name: "c", image: "i", securityContext: { windowsOptions: { hostProcess: true } } },
          { name: "d", image: "i" },
        ],
      },
    },
    ['template.spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers'],
  ],
];

for (const [title, template, problems] of ROWS) {
  test(`a PodTemplate with ${title} is ${problems.length === 0 ? "valid" : "rejected"} on create and update`, () => {
    assert.deepEqual(problemsOfNew(podTemplates, { template }), problems);
    assert.deepEqual(problemsOfChange(podTemplates, newObject(podTemplates, { template: TEMPLATE }), { template }), problems);
  });
}

const PROFILE = "seccomp.security.alpha.kubernetes.io/pod";
const ARMOR = "container.apparmor.security.beta.kubernetes.io/";

const ANNOTATIONS: readonly [key: string, value: string, problems: readonly string[]][] = [
  [
    "kubernetes.io/config.mirror",
    "x",
    ['template.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set'],
  ],
  [
    "controller.kubernetes.io/pod-deletion-cost",
    "+1",
    ['template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer'],
  ],
  [
    PROFILE,
    "foo",
    ['template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "foo": must be a valid seccomp profile'],
  ],
  [
    PROFILE,
    "localhost//a",
    ['template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "/a": must be a relative path'],
  ],
  [
    PROFILE,
    "localhost/../a",
    ["template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"../a\": must not contain '..'"],
  ],
  [
    `${ARMOR}d`,
    "unconfined",
    ['template.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: "d": container not found'],
  ],
  [
    `${ARMOR}c`,
    "foo",
    ['template.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "foo": invalid AppArmor profile name: "foo"'],
  ],
  [
    "a b",
    "x",
    [
      "template.annotations: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
];

for (const [key, value, problems] of ANNOTATIONS) {
  test(`a template with the annotation ${key}: ${value} is rejected`, () => {
    assert.deepEqual(
      problemsOfNew(podTemplates, { template: { metadata: { annotations: { [key]: value } }, spec: CONTAINERS } }),
      problems,
    );
  });
}

test("warnings about a template are emitted only when it changes", () => {
  const odd = { ...TEMPLATE, spec: { ...CONTAINERS, nodeSelector: { "beta.kubernetes.io/os": "x" } } };
  const [previous, plain] = [newObject(podTemplates, { template: odd }), newObject(podTemplates, { template: TEMPLATE })];

  assert.deepEqual(warningsOfNew(podTemplates, { template: odd }), [
    'template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  assert.equal(podTemplates.changesGeneration?.(previous, plain), true);
  assert.equal([...(podTemplates.warnings?.(previous, plain) ?? [])].length, 1);
  assert.deepEqual([...(podTemplates.warnings?.(previous, previous) ?? [])], []);
});

test("the table of PodTemplates shows containers, images and labels", () => {
  assert.deepEqual(columnNames(podTemplates), ["Name", "Containers", "Images", "Pod Labels"]);
  assert.deepEqual(Object.values(cellsOf(podTemplates, newObject(podTemplates, { template: TEMPLATE }))), ["x", "c", "i", "a=b,b=c"]);
});
