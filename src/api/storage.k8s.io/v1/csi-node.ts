/**
 * storage.k8s.io/v1 CSINode: the storage drivers of a node, and the node's ID in each. Named after the node; its kubelet writes it when a
 * driver is registered or removed.
 */
import { deepEqual } from "../../../base/deep.ts";
import { changedItems, withChanges } from "../../changes.ts";
import { qualifiedName } from "../../core/v1/pod/validation/checks.ts";
import { validateDriverName } from "../../core/v1/pod/validation/storage-sources.ts";
import type { CSINode, CSINodeDriver } from "../../generated/storage.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { duplicate, element, immutable, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { isLongerThan } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { listOrAbsent, without } from "../../members.ts";
import { nonNegative } from "../../number-validation.ts";

const NODE_ID_LENGTH_MAX_BYTES = 256;

export const csiNodes = defineResource<CSINode>({
  kind: "CSINode",
  plural: "csinodes",
  singular: "csinode",
  scope: "Cluster",
  served: [{ group: "storage.k8s.io", version: "v1", schema: "io.k8s.api.storage.v1.CSINode", defaults: defaultNode }],
  unconditionalUpdate: false,
  returnsDeletedObject: true,

  *validate(node) {
    const names = new Set<string>();
    for (const [index, driver] of driversOf(node).entries()) yield* validateDriver(driver, element("spec.drivers", index), names);
  },
  validateUpdate,

  columns: [
    nameColumn,
    textColumn("Drivers", "Number of CSI drivers on the node", (node) => driversOf(node).length, { type: "integer" }),
    ageColumn,
  ],
});

/** An empty list is reported, too. */
function defaultNode(node: CSINode): CSINode {
  const drivers = changedItems(node.spec.drivers ?? undefined, (driver) =>
    withChanges(driver, { topologyKeys: listOrAbsent(driver.topologyKeys) }),
  );
  return withChanges(node, { spec: withChanges(node.spec, { drivers: listOrAbsent(drivers) }) });
}

/** Required by the type; a client may have omitted it. */
function driversOf({ spec }: CSINode): readonly CSINodeDriver[] {
  return spec.drivers ?? [];
}

/** `names` are those of the drivers before it. */
function* validateDriver(driver: CSINodeDriver, at: string, names: Set<string>): Iterable<FieldError> {
  const { name, nodeID, allocatable } = driver;
  const topologyKeys = driver.topologyKeys ?? [];
  yield* errorsOf((errors) => validateDriverName(errors, name, `${at}.name`));
  if (nodeID === "") yield required(`${at}.nodeID`);
  if (isLongerThan(nodeID, NODE_ID_LENGTH_MAX_BYTES)) {
    yield invalid(`${at}.nodeID`, nodeID, `must be ${NODE_ID_LENGTH_MAX_BYTES} characters or less`);
  }
  yield* nonNegative(allocatable?.count, `${at}.allocatable.count`);
  if (names.has(name)) yield duplicate(`${at}.name`, name);
  names.add(name);
  yield* validateTopologyKeys(topologyKeys, at);
}

/** Their errors are reported for the driver, as upstream does. */
function* validateTopologyKeys(keys: readonly string[], at: string): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === "") yield required(at);
    if (seen.has(key)) yield duplicate(at, key);
    seen.add(key);
    yield* qualifiedName(key, at);
  }
}

/** Drivers may be added and removed, and change their volume limits. The node ID is immutable: other components have stored it. */
function* validateUpdate(next: CSINode, previous: CSINode): Iterable<FieldError> {
  const drivers = byName(driversOf(next));
  for (const before of driversOf(previous)) {
    for (const driver of drivers.get(before.name) ?? []) {
      if (!deepEqual(without(driver, "allocatable"), without(before, "allocatable"))) yield immutable("spec.drivers", shown(driver));
    }
  }
}

function byName(drivers: readonly CSINodeDriver[]): ReadonlyMap<string, readonly CSINodeDriver[]> {
  const found = new Map<string, CSINodeDriver[]>();
  for (const driver of drivers) {
    const same = found.get(driver.name);
    if (same === undefined) found.set(driver.name, [driver]);
    else same.push(driver);
  }
  return found;
}

/** In upstream's format: by the names of its internal type, without mutable fields. */
function shown({ name, nodeID, topologyKeys }: CSINodeDriver): unknown {
  return { Name: name, NodeID: nodeID, TopologyKeys: topologyKeys ?? null, Allocatable: null };
}
