import assert from "node:assert/strict";
import { test } from "node:test";
import { DownwardError, fileAmount, fileField, formatMap, variableAmount, variableField } from "./downward.ts";
import { aContainer, aPod } from "../container-config/testing/views.ts";

const pod = aPod({}, { labels: { b: "2", a: 'say "hi"\n' }, annotations: { "Team/Owner": "me", note: "é" } });
const addresses = { podIps: ["fd00::5", "10.1.0.5"], hostIps: ["192.168.0.7", "fd00::1"] };

const fields: readonly (readonly [path: string, value: string])[] = [
  ["metadata.name", "web-0"],
  ["metadata.namespace", "shop"],
  ["metadata.uid", "u-1"],
  ["metadata.labels", 'a="say \\"hi\\"\\n"\nb="2"'],
  ["metadata.labels['b']", "2"],
  ["metadata.labels['none']", ""],
  ["metadata.annotations['Team/Owner']", "me"],
  ["metadata.annotations", 'Team/Owner="me"\nnote="é"'],
  ["spec.nodeName", "n1"],
  ["spec.host", "n1"],
  ["spec.serviceAccountName", "seller"],
  ["status.hostIP", "192.168.0.7"],
  ["status.hostIPs", "192.168.0.7,fd00::1"],
  ["status.podIP", "10.1.0.5"],
  ["status.podIPs", "10.1.0.5,fd00::5"],
];

for (const [fieldPath, value] of fields) {
  test(`the environment variable for fieldRef ${fieldPath} is ${JSON.stringify(value)}`, () => {
    assert.equal(variableField({ fieldPath }, pod, addresses), value);
  });
}

const wrongFields: readonly (readonly [path: string, message: string])[] = [
  ["status.phase", "unsupported fieldPath: status.phase"],
  ["spec.containers", "field label not supported: spec.containers"],
  ["spec.nodeName['x']", "field label does not support subscript: spec.nodeName['x']"],
  [
    "metadata.labels['a b']",
    "invalid key subscript in metadata.labels['a b']: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
];

for (const [fieldPath, message] of wrongFields) {
  test(`an environment variable for fieldRef ${fieldPath} is rejected`, () => {
    assert.throws(() => variableField({ fieldPath }, pod, addresses), new DownwardError(message));
  });
}

test("a downward API file supports metadata fields only, no addresses", () => {
  assert.equal(fileField("metadata.labels['b']", pod), "2");
  assert.throws(() => fileField("status.podIP", pod), new DownwardError("unsupported fieldPath: status.podIP"));
  assert.throws(() => fileField("spec.x['y']", pod), new DownwardError(`fieldPath "spec.x['y']" does not support subscript`));
});

test("missing labels and annotations are an empty text", () => {
  assert.equal(formatMap(undefined), "");
});

test("a fieldRef with another apiVersion is rejected", () => {
  assert.throws(
    () => variableField({ apiVersion: "v2", fieldPath: "metadata.name" }, pod, addresses),
    new DownwardError("unsupported pod version: v2"),
  );
});

// ── resources ───────────────────────────────────────────────────────────────────────────────────────

const allocatable = { cpu: "4", memory: "8Gi", "ephemeral-storage": "100Gi" };
const container = aContainer({
  resources: {
    requests: { cpu: "250m", memory: "32Mi", "hugepages-2Mi": "4Mi" },
    limits: { cpu: "1250m", memory: "64Mi", "hugepages-2Mi": "4Mi" },
  },
});

const amounts: readonly (readonly [resource: string, divisor: string | undefined, value: string])[] = [
  ["limits.cpu", undefined, "2"],
  ["limits.cpu", "0", "2"],
  ["limits.cpu", "1m", "1250"],
  ["requests.cpu", undefined, "1"],
  ["requests.cpu", "1", "1"],
  ["limits.memory", undefined, "67108864"],
  ["limits.memory", "1Mi", "64"],
  ["requests.memory", "10Mi", "4"],
  ["limits.ephemeral-storage", "1Gi", "100"],
  ["requests.ephemeral-storage", undefined, "0"],
  ["limits.hugepages-2Mi", "1Mi", "4"],
  ["requests.hugepages-1Gi", undefined, "0"],
];

for (const [resource, divisor, value] of amounts) {
  test(`${resource} with divisor ${divisor ?? "(none)"} is ${value}, in a variable and in a file`, () => {
    const owner = aPod({ containers: [container] });
    const selector = divisor === undefined ? { resource } : { resource, divisor };
    assert.equal(variableAmount(selector, { pod: owner, container, allocatable }), value);
    assert.equal(fileAmount({ ...selector, containerName: "main" }, owner, allocatable), value);
  });
}

test("a missing limit defaults to the node's allocatable, or to a lower Pod-level limit", () => {
  const bare = aContainer();
  const limited = aPod({ containers: [bare], resources: { limits: { memory: "1Gi" } } });

  assert.equal(variableAmount({ resource: "limits.cpu" }, { pod: limited, container: bare, allocatable }), "4");
  assert.equal(variableAmount({ resource: "limits.memory", divisor: "1Mi" }, { pod: limited, container: bare, allocatable }), "1024");
  assert.equal(fileAmount({ resource: "limits.memory", divisor: "1Mi", containerName: "main" }, limited, allocatable), "8192");
});

test("resourceFieldRef of another container uses its containerName; an init container then has only its own limit", () => {
  const owner = aPod({
    containers: [aContainer(), aContainer({ name: "other", resources: { limits: { cpu: "3" } } })],
    initContainers: [aContainer({ name: "init" })],
  });
  const of = (containerName: string) =>
    variableAmount({ resource: "limits.cpu", containerName }, { pod: owner, container: aContainer(), allocatable });

  assert.deepEqual([of("other"), of("main"), of("init")], ["3", "4", "0"]);
  assert.throws(() => of("none"), new DownwardError("container none not found"));
});

test("a resourceFieldRef with an unknown resource is rejected", () => {
  const ask = () => variableAmount({ resource: "limits.pods" }, { pod, container, allocatable });
  assert.throws(ask, new DownwardError("unsupported container resource : limits.pods"));
});
