/**
 * Requests that keep the cluster itself alive (decision record "Webhooks cannot stop the cluster"). Upstream sends everything but admission
 * configuration to webhooks, so that one dead webhook for everything stops heartbeats, leader election and the removal of namespaces.
 */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import type { Objects } from "../../framework/objects.ts";
import { SERVER } from "../../framework/own-requests.ts";
import { isAdmissionConfiguration } from "./admission-target.ts";
import { NAMESPACES } from "./selected-request.ts";

const NAMESPACE_CONTROLLER = "system:serviceaccount:kube-system:namespace-controller";
const NODES_GROUP = "system:nodes";
/** The accounts of the controllers. */
const CONTROLLERS_GROUP = "system:serviceaccounts:kube-system";
/** Heartbeats of nodes, and leader election of the control plane. */
const LEASE_NAMESPACES: readonly string[] = ["kube-node-lease", "kube-system"];

/** Never sent to webhooks: what configures admission, as upstream; the API server's own writes; the leases of the cluster. */
export function isExemptFromWebhooks({ endpoint, namespace, context }: AdmissionRequest): boolean {
  if (isAdmissionConfiguration(endpoint) || context.user.name === SERVER.name) return true;
  const { group, plural } = endpoint.name;
  return group === "coordination.k8s.io" && plural === "leases" && LEASE_NAMESPACES.includes(namespace);
}

/**
 * Sent to webhooks, whose denial counts, but not whose failure: Namespaces, the deletion of their content, the registration and status of
 * nodes, and what nodes and controllers write of an object that is being deleted, itself or with its namespace. Without the last, a
 * namespace with a running Pod or with a finalizer of a controller would stay.
 */
export function failsOpen(
  { endpoint, oldObject, namespace, context: { user } }: AdmissionRequest,
  objects: Pick<Objects, "cached">,
): boolean {
  const { group, plural } = endpoint.name;
  if (user.name === NAMESPACE_CONTROLLER) return true;
  if (user.groups.some((name) => name === NODES_GROUP || name === CONTROLLERS_GROUP)) {
    const isDeleted = (object: KubeObject | undefined) => object?.metadata.deletionTimestamp !== undefined;
    if (isDeleted(oldObject) || (namespace !== "" && isDeleted(objects.cached(NAMESPACES, { namespace: "", name: namespace }))))
      return true;
  }
  if (group !== "") return false;
  return plural === "namespaces" || (plural === "nodes" && user.groups.includes(NODES_GROUP));
}
