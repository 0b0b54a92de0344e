import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseRecords, pluginsToAsk, type NetworkRecords } from "./cni-records.ts";
import { namespaceIn, planOrphanedNetwork, stillThere, type KnownSandbox } from "./orphaned-network.ts";

interface Row {
  readonly it: string;
  readonly candidates: Partial<NetworkRecords>;
  readonly known: readonly KnownSandbox[];
  readonly orphans?: Partial<NetworkRecords>;
}

const NONE: NetworkRecords = { namespaces: [], sandboxes: [] };

const ROWS: readonly Row[] = [
  {
    it: "networks without a sandbox are removed",
    candidates: { namespaces: ["cni-1"], sandboxes: ["a"] },
    known: [],
    orphans: { namespaces: ["cni-1"], sandboxes: ["a"] },
  },
  {
    it: "networks of a sandbox are kept",
    candidates: { namespaces: ["cni-1", "cni-2"], sandboxes: ["a", "b"] },
    known: [{ id: "a", namespace: "/run/x/netns/cni-1" }],
    orphans: { namespaces: ["cni-2"], sandboxes: ["b"] },
  },
  {
    it: "a sandbox with hostNetwork has no namespace",
    candidates: { namespaces: ["cni-1"] },
    known: [{ id: "a", namespace: undefined }],
    orphans: { namespaces: ["cni-1"] },
  },
  {
    it: "all namespaces are kept while that of one sandbox is unknown; addresses are matched by sandbox",
    candidates: { namespaces: ["cni-1", "cni-2"], sandboxes: ["a", "b"] },
    known: [
      { id: "a", namespace: "unknown" },
      { id: "c", namespace: "/run/x/netns/cni-1" },
    ],
    orphans: { sandboxes: ["b"] },
  },
];

describe("orphaned networks among those older than containerd", () => {
  for (const { it, candidates, known, orphans } of ROWS)
    test(it, () => deepEqual(planOrphanedNetwork({ ...NONE, ...candidates }, known), { ...NONE, ...orphans }));

  test("only networks of the record that still exist are checked, none that is younger", () => {
    deepEqual(
      stillThere({ namespaces: ["cni-1", "cni-2"], sandboxes: ["a", "b"] }, { namespaces: ["cni-2", "cni-3"], sandboxes: ["b", "c"] }),
      { namespaces: ["cni-2"], sandboxes: ["b"] },
    );
  });

  for (const text of ["", "{", "[]", "null", '{"namespaces":"cni-1"}', '{"sandboxes":[1]}'])
    test(`a record with ${JSON.stringify(text)} is ignored`, () => deepEqual(parseRecords(text), NONE));
});

describe("the network namespace in containerd's sandbox info", () => {
  const spec = (namespaces: unknown) => JSON.stringify({ runtimeSpec: { linux: { namespaces } } });
  for (const { details, namespace } of [
    { details: spec([{ type: "pid" }, { type: "network", path: "/run/x/netns/cni-1" }]), namespace: "/run/x/netns/cni-1" },
    { details: spec([{ type: "pid" }, { type: "ipc" }]), namespace: undefined },
    { details: spec([{ type: "network" }]), namespace: "unknown" },
    { details: spec(undefined), namespace: "unknown" },
    { details: JSON.stringify({ runtimeSpec: null }), namespace: "unknown" },
    { details: "null", namespace: "unknown" },
    { details: "", namespace: "unknown" },
  ])
    test(`namespace in ${details}: ${namespace}`, () => equal(namespaceIn(details), namespace));
});

test("DEL runs a network's plugins in reverse order, each with the network's name", () => {
  const text = JSON.stringify({ cniVersion: "0.4.0", name: "k8-x", plugins: [{ type: "bridge", bridge: "k8-x" }, { type: "portmap" }] });
  const asked = pluginsToAsk(text).map(({ type, configuration }) => {
    const { cniVersion, name, bridge } = JSON.parse(configuration) as Record<string, unknown>;
    return [type, cniVersion, name, bridge];
  });
  deepEqual(asked, [
    ["portmap", "0.4.0", "k8-x", undefined],
    ["bridge", "0.4.0", "k8-x", "k8-x"],
  ]);
});
