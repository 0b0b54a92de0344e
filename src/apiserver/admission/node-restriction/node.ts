/**
 * A node may write its own Node object, but must not attract workloads: taints, owner references and all reserved Kubernetes labels except
 * those that kubelets have always set are protected.
 */
import { nodes } from "../../../api/core/v1/node.ts";
import type { Node } from "../../../api/generated/core/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, isUpdateOf } from "../../shared/admission-request.ts";
import { refuse } from "./errors.ts";

/** Labels that describe the machine. */
const KUBELET_LABELS: ReadonlySet<string> = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);
/** Label prefixes that nodes may use freely. */
const KUBELET_PREFIXES = ["kubelet.kubernetes.io", "node.kubernetes.io"];
/** Includes node-restriction.kubernetes.io: workloads may rely on these labels because no node can set them. */
const KUBERNETES_PREFIXES = ["kubernetes.io", "k8s.io"];

export function checkNode(request: AdmissionRequest, node: string): void {
  const { name, subresource } = request;
  if (name !== node) refuse(request, `node ${quoteGo(node)} is not allowed to modify node ${quoteGo(name)}`);
  if (isCreateOf(request, nodes)) checkNew(request, node, request.object);
  if (isUpdateOf(request, nodes, subresource)) checkChange(request, node, request.object, request.oldObject);
}

function checkNew(request: AdmissionRequest, node: string, { metadata, spec }: Node): void {
  const whose = `node ${quoteGo(node)} is not allowed to`;
  // Upstream's message says pod here, too.
  if (spec?.configSource !== undefined) refuse(request, `${whose} create pods with a non-nil configSource`);
  const labels = forbiddenLabels(metadata.labels, {});
  if (labels.length > 0) refuse(request, `${whose} set the following labels: ${labels.join(", ")}`);
}

function checkChange(request: AdmissionRequest, node: string, next: Node, previous: Node): void {
  const whose = `node ${quoteGo(node)} is not allowed to`;
  const { configSource } = next.spec ?? {};
  // Kubelets that do not know the field may omit it.
  if (configSource !== undefined && !deepEqual(configSource, previous.spec?.configSource)) {
    refuse(request, `${whose} update configSource to a new non-nil configSource`);
  }
  if (!deepEqual(next.spec?.taints ?? [], previous.spec?.taints ?? [])) refuse(request, `${whose} modify taints`);
  if (!deepEqual(next.metadata.ownerReferences ?? [], previous.metadata.ownerReferences ?? [])) {
    refuse(request, `${whose} modify ownerReferences`);
  }
  const labels = forbiddenLabels(next.metadata.labels, previous.metadata.labels);
  if (labels.length > 0) refuse(request, `is not allowed to modify labels: ${labels.join(", ")}`);
}

type Labels = Readonly<Record<string, string>>;

/** Returns the changed labels that a node may not write. */
export function forbiddenLabels(next: Labels = {}, previous: Labels = {}): readonly string[] {
  const [after, before] = [new Map(Object.entries(next)), new Map(Object.entries(previous))];
  const keys = new Set([...after.keys(), ...before.keys()]);
  return [...keys].filter((key) => after.get(key) !== before.get(key) && isForbidden(key)).toSorted();
}

function isForbidden(key: string): boolean {
  const slash = key.indexOf("/");
  const prefix = slash < 0 ? "" : key.slice(0, slash);
  const isFree = KUBELET_LABELS.has(key) || KUBELET_PREFIXES.some((allowed) => isUnder(prefix, allowed));
  return !isFree && KUBERNETES_PREFIXES.some((reserved) => isUnder(prefix, reserved));
}

function isUnder(prefix: string, domain: string): boolean {
  return prefix === domain || prefix.endsWith(`.${domain}`);
}
