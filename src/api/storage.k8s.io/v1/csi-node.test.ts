import assert from "node:assert/strict";
import test from "node:test";
import { NOT_A_QUALIFIED_NAME, NOT_A_SUBDOMAIN } from "../../core/v1/pod/testing/pods.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { csiNodes } from "./csi-node.ts";

function node(...drivers: readonly JsonObject[]): Sent {
  return { spec: { drivers } };
}

const DISKS = { name: "disks.example.com", nodeID: "i-1", topologyKeys: ["zone"], allocatable: { count: 8 } };
const FILES = { name: "Files.example.com", nodeID: "i-1", allocatable: {} };

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a node with two drivers is right", node(DISKS, FILES), []],
  ["a node without drivers is right", { spec: {} }, []],
  [
    "a driver has a name, and one for the node",
    node({}),
    ["spec.drivers[0].name: Required value", "spec.drivers[0].nodeID: Required value"],
  ],
  [
    "a driver is called as a domain",
    node({ name: `Disks_${"a".repeat(58)}`, nodeID: "i-1" }),
    [
      "spec.drivers[0].name: Too long: may not be more than 63 bytes",
      `spec.drivers[0].name: Invalid value: "Disks_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": ${NOT_A_SUBDOMAIN}`,
    ],
  ],
  [
    "a node's name is not too long",
    node({ ...DISKS, nodeID: "i".repeat(257) }),
    [
      'spec.drivers[0].nodeID: Invalid value: "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii": must be 256 characters or less',
    ],
  ],
  [
    "a node takes no fewer volumes than none",
    node({ ...DISKS, allocatable: { count: -1 } }),
    ["spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0"],
  ],
  ["a driver is there once", node(DISKS, DISKS), ['spec.drivers[1].name: Duplicate value: "disks.example.com"']],
  [
    "keys of places are names, each once",
    node({ ...DISKS, topologyKeys: ["", "zone", "zone", "a b"] }),
    [
      "spec.drivers[0]: Required value",
      'spec.drivers[0]: Invalid value: "": name part must be non-empty',
      `spec.drivers[0]: Invalid value: "": ${NOT_A_QUALIFIED_NAME}`,
      'spec.drivers[0]: Duplicate value: "zone"',
      `spec.drivers[0]: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
    ],
  ],
];

for (const [title, sent, expected] of ROWS) {
  test(title, () => assert.deepEqual(problemsOfNew(csiNodes, sent), expected));
}

const CHANGES: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a driver may come", node(DISKS, FILES), []],
  ["a driver may go", node(), []],
  ["a driver may take another number of volumes", node({ ...DISKS, allocatable: { count: 9 } }), []],
  [
    "what a driver calls the node stays",
    node({ ...DISKS, nodeID: "i-2" }),
    [
      'spec.drivers: Invalid value: {"Name":"disks.example.com","NodeID":"i-2","TopologyKeys":["zone"],"Allocatable":null}: field is immutable',
    ],
  ],
  [
    "the keys of places stay",
    node({ name: DISKS.name, nodeID: DISKS.nodeID }),
    ['spec.drivers: Invalid value: {"Name":"disks.example.com","NodeID":"i-1","TopologyKeys":null,"Allocatable":null}: field is immutable'],
  ],
  [
    "each of two drivers of one name is compared",
    node({ ...DISKS, nodeID: "i-2" }, { ...DISKS, nodeID: "i-3" }),
    [
      'spec.drivers[1].name: Duplicate value: "disks.example.com"',
      'spec.drivers: Invalid value: {"Name":"disks.example.com","NodeID":"i-2","TopologyKeys":["zone"],"Allocatable":null}: field is immutable',
      'spec.drivers: Invalid value: {"Name":"disks.example.com","NodeID":"i-3","TopologyKeys":["zone"],"Allocatable":null}: field is immutable',
    ],
  ],
];

for (const [title, sent, expected] of CHANGES) {
  test(title, () => assert.deepEqual(problemsOfChange(csiNodes, newObject(csiNodes, node(DISKS)), sent), expected));
}

test("the table of CSINodes shows the number of drivers", () => {
  assert.deepEqual(columnNames(csiNodes), ["Name", "Drivers", "Age"]);
  assert.deepEqual(cellsOf(csiNodes, newObject(csiNodes, node(DISKS, FILES))), { Name: "x", Drivers: 2, Age: "<unknown>" });
  assert.equal(cellsOf(csiNodes, newObject(csiNodes, {}))["Drivers"], 0);
});
