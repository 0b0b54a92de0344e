import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { notFound } from "../../api/machinery/status-error.ts";
import { changedTaints } from "./commands/change.ts";
import { checkDrain } from "./commands/delete.ts";
import { ageText, describeLines, titleOf } from "./commands/describe.ts";
import { explainLines } from "./commands/explain.ts";
import { substituted } from "./commands/files.ts";
import { deploymentStatus } from "./commands/rollout.ts";
import { UsageError } from "./flags.ts";
import { errorText } from "./messages.ts";
import { cellsOf, headerCells, labelsText, tableLines } from "./text-table.ts";

test("a table has three blanks between columns and none at the end of a line", () =>
  deepEqual(
    tableLines([
      ["NAME", "READY", "AGE"],
      ["web-1", "1/1", ""],
    ]),
    ["NAME    READY   AGE", "web-1   1/1"],
  ));

test("a server's table shows wide columns, namespaces and labels only on request", () => {
  const columnDefinitions = [{ name: "Name" }, { name: "Node", priority: 1 }];
  const row = { cells: ["web", null], object: { metadata: { namespace: "shop", name: "web", labels: { b: "2", a: "1" } } } };
  const style = { isWide: false, withNamespace: false, withLabels: false, namePrefix: "" };
  deepEqual(headerCells({ columnDefinitions }, style), ["NAME"]);
  deepEqual(cellsOf(row, columnDefinitions, { ...style, namePrefix: "pod/" }), ["pod/web"]);
  const all = { isWide: true, withNamespace: true, withLabels: true, namePrefix: "" };
  deepEqual(headerCells({ columnDefinitions }, all), ["NAMESPACE", "NAME", "NODE", "LABELS"]);
  deepEqual(cellsOf(row, columnDefinitions, all), ["shop", "web", "<none>", "a=1,b=2"]);
  equal(labelsText({}), "<none>");
});

describe("the state of a rollout is printed in kubectl's words", () => {
  const metadata = { name: "web", generation: 2 };
  const rows = [
    { status: { observedGeneration: 1 }, text: "Waiting for deployment spec update to be observed...", isDone: false },
    {
      status: { observedGeneration: 2, updatedReplicas: 1 },
      text: 'Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...',
      isDone: false,
    },
    {
      status: { observedGeneration: 2, updatedReplicas: 3, replicas: 4 },
      text: 'Waiting for deployment "web" rollout to finish: 1 old replicas are pending termination...',
      isDone: false,
    },
    {
      status: { observedGeneration: 2, updatedReplicas: 3, replicas: 3, availableReplicas: 2 },
      text: 'Waiting for deployment "web" rollout to finish: 2 of 3 updated replicas are available...',
      isDone: false,
    },
    {
      status: { observedGeneration: 2, updatedReplicas: 3, replicas: 3, availableReplicas: 3 },
      text: 'deployment "web" successfully rolled out',
      isDone: true,
    },
  ];
  for (const { status, text, isDone } of rows)
    test(text, () =>
      deepEqual(deploymentStatus({ apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: 3 }, status }), { text, isDone }),
    );
});

describe("taints are added, replaced and removed", () => {
  const blue = { key: "team", value: "blue", effect: "NoSchedule" };
  const rows = [
    { before: [], changes: ["team=blue:NoSchedule"], taints: [blue], verb: "tainted" },
    { before: [blue], changes: ["team=blue:NoSchedule-"], taints: [], verb: "untainted" },
    {
      before: [blue, { ...blue, effect: "NoExecute" }],
      changes: ["team:NoSchedule-"],
      taints: [{ ...blue, effect: "NoExecute" }],
      verb: "untainted",
    },
    { before: [blue], changes: ["team-"], taints: [], verb: "untainted" },
  ];
  for (const { before, changes, taints, verb } of rows)
    test(changes.join(" "), () => deepEqual(changedTaints(before, changes, false, "node-0"), { taints, verb }));
  test("a taint that exists needs --overwrite", () =>
    throws(
      () => changedTaints([blue], ["team=red:NoSchedule"], false, "node-0"),
      new UsageError("node node-0 already has team taint(s) with same effect(s) and --overwrite is false"),
    ));
  test("an unknown effect is refused", () =>
    throws(
      () => changedTaints([], ["a=b:Never"], false, "node-0"),
      new UsageError("invalid taint effect: Never, unsupported taint effect"),
    ));
});

test("drain refuses bare Pods and those of DaemonSets unless a flag permits it", () => {
  const pod = (name: string, kind?: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace: "default",
      name,
      ...(kind === undefined ? {} : { ownerReferences: [{ apiVersion: "apps/v1", kind, name: "a", uid: "u", controller: true }] }),
    },
  });
  const pods = [pod("bare"), pod("agent", "DaemonSet"), pod("web", "ReplicaSet")];
  throws(
    () => checkDrain(pods, {}, "node-0"),
    new UsageError(
      'unable to drain node "node-0" due to error: [cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/agent, ' +
        "cannot delete Pods that declare no controller (use --force to override): default/bare], continuing command...",
    ),
  );
  checkDrain(pods, { "ignore-daemonsets": "true", force: "true" }, "node-0");
});

test("describe prints fields as titles, and leaves out managed fields", () => {
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "shop", labels: { app: "web" }, managedFields: [{ manager: "x" }], uid: "1" },
    spec: { containers: [{ name: "a", image: "nginx" }], nodeName: "node-0" },
  };
  deepEqual(describeLines(object), [
    "Name:         web",
    "Namespace:    shop",
    "Labels:       app=web",
    "Annotations:  <none>",
    "API Version:  v1",
    "Kind:         Pod",
    "Metadata:",
    "  Uid:  1",
    "Spec:",
    "  Containers:",
    "    Name:  a",
    "    Image:  nginx",
    "  Node Name:  node-0",
  ]);
  deepEqual(["podIP", "hostIPs", "topology.kubernetes.io/zone"].map(titleOf), ["Pod IP", "Host IPs", "topology.kubernetes.io/zone"]);
  deepEqual([5_000, 119_000, 300_000, 8_000_000, 200_000_000].map(ageText), ["5s", "119s", "5m", "2h", "2d"]);
});

test("explain follows references, lists and maps to a field", () => {
  const schemas = {
    Pod: {
      description: "A Pod.",
      "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Pod" }],
      properties: { spec: { allOf: [{ $ref: "#/components/schemas/io.k8s.PodSpec" }], description: "Its spec." } },
    },
    "io.k8s.PodSpec": {
      required: ["containers"],
      properties: { containers: { description: "Them.", items: { $ref: "#/components/schemas/io.k8s.Container" } } },
    },
    "io.k8s.Container": { description: "One.", properties: { image: { type: "string", description: "Its image." } } },
  };
  const name = { group: "", version: "v1", kind: "Pod" };
  deepEqual(explainLines(schemas, name, ["spec", "containers"]), [
    ...["KIND:       Pod", "VERSION:    v1", "", "FIELD: containers <[]Container>", "", "DESCRIPTION:", "    Them.", ""],
    ...["FIELDS:", "  image\t<string>", "    Its image.", ""],
  ]);
  throws(() => explainLines(schemas, name, ["spec", "nothing"]), new UsageError('field "nothing" does not exist'));
});

test("sed replaces the first or all occurrences in each line, literally", () => {
  equal(substituted('a: "1" "1"\nb: "1"', 's/"1"/"2"/'), 'a: "2" "1"\nb: "2"');
  equal(substituted("x.x/x.x", "s/x.x\\/x/$&/g"), "$&.x");
  throws(() => substituted("a", "y/a/b/"), new UsageError("sed: unknown command: y/a/b/"));
});

test("errors are printed as kubectl prints them", () => {
  equal(errorText(notFound({ group: "", plural: "pods" }, "web")), 'Error from server (NotFound): pods "web" not found');
  equal(errorText(new UsageError("unknown flag: --x")), "error: unknown flag: --x");
});
