/**
 * core/v1 Node: a machine that runs Pods, as its kubelet reports it. Its kubelet creates it and writes the status; people and controllers
 * write labels, taints and `unschedulable`.
 *
 * Unlike for other kinds, the status may be set on create: a kubelet reports it in its first request.
 */
import type { Node, NodeSpec, NodeStatus } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn, NONE, orNone, textColumn, UNKNOWN } from "../../machinery/columns.ts";
import { element } from "../../machinery/field-error.ts";
import { cidrWarnings } from "../../machinery/ip/ip-validation.ts";
import { defineResource, type Column } from "../../machinery/resource.ts";
import { listOrAbsent, without } from "../../members.ts";
import { proxyConnection } from "./proxy-connection.ts";
import { validateNode, validateNodeStatus, validateNodeUpdate } from "./node/validate.ts";
import { changed, changedItems, withChanges } from "../../changes.ts";
import { roundedList } from "./pod/defaults/resources.ts";

const ROLE_PREFIX = "node-role.kubernetes.io/";
const ROLE_LABEL = "kubernetes.io/role";

export const nodes = defineResource<Node>({
  kind: "Node",
  plural: "nodes",
  singular: "node",
  shortNames: ["no"],
  scope: "Cluster",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.Node", defaults: defaultNode }],

  prepareForCreate: withoutConfig,
  prepareForUpdate: (next, previous) =>
    withChanges(previous.spec?.configSource === undefined ? withoutConfigSource(next) : next, { status: previous.status }),

  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  *warnings({ spec = {} }) {
    if (spec.configSource !== undefined) yield "spec.configSource: the feature is removed";
    if ((spec.externalID ?? "") !== "") yield "spec.externalID: this field is deprecated, and is unused by Kubernetes";
    for (const [index, range] of (spec.podCIDRs ?? []).entries()) yield* cidrWarnings(range, element("spec.podCIDRs", index));
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) =>
        withChanges(previous.status?.config === undefined ? withoutStatusConfig(next) : next, { spec: previous.spec }),
      validateUpdate: validateNodeStatus,
    },
    proxy: proxyConnection("NodeProxyOptions"),
  },

  selectableFields: { "spec.unschedulable": ({ spec }) => String(spec?.unschedulable ?? false) },

  columns: [
    nameColumn,
    textColumn("Status", "Readiness, and whether scheduling is disabled", statusCell),
    textColumn("Roles", "Roles of the node", rolesCell),
    ageColumn,
    textColumn("Version", "Kubelet version", ({ status }) => status?.nodeInfo?.kubeletVersion ?? ""),
    wide("Internal-IP", "Internal address", (status) => addressCell(status, "InternalIP")),
    wide("External-IP", "External address", (status) => addressCell(status, "ExternalIP")),
    wide("OS-Image", "Operating system image", ({ nodeInfo }) => nodeInfo?.osImage || UNKNOWN),
    wide("Kernel-Version", "Kernel version", kernelCell),
    wide("Container-Runtime", "Container runtime and its version", ({ nodeInfo }) => nodeInfo?.containerRuntimeVersion || UNKNOWN),
  ],
});

function defaultNode(node: Node): Node {
  const { spec, status } = node;
  return withChanges(node, {
    spec: spec === undefined ? undefined : withBothPodCidrs(spec),
    status: status === undefined ? undefined : defaultStatus(status),
  });
}

function defaultStatus(status: NodeStatus): NodeStatus {
  const { capacity, allocatable, images } = status;
  return withChanges(status, {
    capacity: changed(capacity, roundedList),
    // Capacity that is not reserved is allocatable.
    allocatable: changed(allocatable ?? capacity, roundedList),
    images: changedItems(images, (image) => withChanges(image, { names: listOrAbsent(image.names) })),
  });
}

/** `podCIDR` is the first of `podCIDRs`; if they disagree, the previous one wins. */
function withBothPodCidrs(spec: NodeSpec): NodeSpec {
  const { podCIDR = "", podCIDRs = [] } = spec;
  if (podCIDR === "") return withChanges(spec, { podCIDR: podCIDRs[0] });
  return podCIDRs[0] === podCIDR ? spec : { ...spec, podCIDRs: [podCIDR] };
}

function withoutConfig(node: Node): Node {
  return withoutStatusConfig(withoutConfigSource(node));
}

function withoutConfigSource(node: Node): Node {
  return node.spec?.configSource === undefined ? node : { ...node, spec: without(node.spec, "configSource") };
}

function withoutStatusConfig(node: Node): Node {
  return node.status?.config === undefined ? node : { ...node, status: without(node.status, "config") };
}

function statusCell({ spec, status }: Node): string {
  // Of duplicate conditions the last counts, as upstream.
  const ready = (status?.conditions ?? []).findLast(({ type }) => type === "Ready");
  const health = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec?.unschedulable === true ? `${health},SchedulingDisabled` : health;
}

function rolesCell({ metadata }: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).map(([key, value]) =>
    key.startsWith(ROLE_PREFIX) ? key.slice(ROLE_PREFIX.length) : key === ROLE_LABEL ? value : "",
  );
  return orNone([...new Set(roles.filter((role) => role !== ""))].toSorted().join(","));
}

function wide(name: string, description: string, value: (status: NodeStatus) => string): Column<Node> {
  return textColumn(name, description, ({ status = {} }) => value(status), { priority: 1 });
}

function addressCell({ addresses = [] }: NodeStatus, type: string): string {
  return addresses.find((address) => address.type === type)?.address ?? NONE;
}

function kernelCell({ nodeInfo }: NodeStatus): string {
  const version = nodeInfo?.kernelVersion || UNKNOWN;
  return nodeInfo?.architecture ? `${version} (${nodeInfo.architecture})` : version;
}
