/**
 * Rules for resources whose access is restricted per node: each returns the reason for a rejection, with upstream's message, or undefined
 * if allowed. What the authorizer cannot see (the object of a create, the changes of an update) the admission plugin NodeRestriction
 * checks; the two belong together.
 */
import { parseFieldSelector } from "../../../api/machinery/selectors/field-selector.ts";
import { SelectorError } from "../../../api/machinery/selectors/label-requirement.ts";
import type { AccessedResource } from "../../framework/authorization.ts";
import type { NodeGraph, RelatedKind } from "./node-graph.ts";

export interface NodeQuestion {
  readonly node: string;
  readonly verb: string;
  readonly resource: AccessedResource;
  readonly graph: NodeGraph;
}

/** undefined: allowed. "": not allowed, without a reason. */
type Refusal = string | undefined;

type NodeRule = (question: NodeQuestion) => Refusal;

const LEASE_NAMESPACE = "kube-node-lease";

/** Keyed by group, then by plural. */
const RULES: Readonly<Record<string, Readonly<Record<string, NodeRule>>>> = {
  "": {
    secrets: readsRelated("secrets"),
    configmaps: readsRelated("configmaps"),
    persistentvolumeclaims: (question) => (question.resource.subresource === "status" ? updatesClaimStatus : getsClaim)(question),
    persistentvolumes: getsRelated("persistentvolumes"),
    serviceaccounts: usesServiceAccount,
    nodes: usesNode,
    pods: usesPod,
  },
  "resource.k8s.io": { resourceclaims: getsRelated("resourceclaims"), resourceslices: usesResourceSlice },
  "storage.k8s.io": { volumeattachments: getsRelated("volumeattachments"), csinodes: usesCsiNode },
  "coordination.k8s.io": { leases: usesLease },
  "certificates.k8s.io": { podcertificaterequests: usesPodCertificateRequest },
};

/** undefined: all nodes have the same permissions on this resource. */
export function ruleFor({ group, plural }: AccessedResource): NodeRule | undefined {
  const ofGroup = Object.hasOwn(RULES, group) ? RULES[group] : undefined;
  return ofGroup !== undefined && Object.hasOwn(ofGroup, plural) ? ofGroup[plural] : undefined;
}

function related({ node, resource, graph }: NodeQuestion, kind: RelatedKind): Refusal {
  if (resource.name === "") return "No Object name found";
  return graph.reaches(node, kind, resource) ? undefined : `no relationship found between node '${node}' and this object`;
}

function getsRelated(kind: RelatedKind): NodeRule {
  return (question) => {
    if (question.verb !== "get") return "can only get individual resources of this type";
    return question.resource.subresource === "" ? related(question, kind) : "cannot get subresource";
  };
}

function readsRelated(kind: RelatedKind): NodeRule {
  return (question) => {
    const { verb, resource } = question;
    if (!["get", "list", "watch"].includes(verb)) return "can only read resources of this type";
    if (resource.subresource !== "") return "cannot read subresource";
    return resource.namespace === "" ? "can only read namespaced object of this type" : related(question, kind);
  };
}

const getsClaim = getsRelated("persistentvolumeclaims");

function updatesClaimStatus(question: NodeQuestion): Refusal {
  if (question.verb !== "update" && question.verb !== "patch") return "can only get/update/patch this type";
  return related(question, "persistentvolumeclaims");
}

const readsServiceAccount = readsRelated("serviceaccounts");

function usesServiceAccount(question: NodeQuestion): Refusal {
  const { verb, resource } = question;
  if (verb === "get" && resource.subresource === "") return readsServiceAccount(question);
  if (verb !== "create" || resource.name === "") return "can only create tokens for individual service accounts";
  return resource.subresource === "token" ? related(question, "serviceaccounts") : "can only create token subresource of serviceaccount";
}

/** The name of a create is not known yet. */
function isOwnOrNew({ verb, node, resource }: NodeQuestion): boolean {
  return verb === "create" || resource.name === node;
}

const OWN_OBJECT_VERBS = ["get", "create", "update", "patch", "delete"];

function usesLease(question: NodeQuestion): Refusal {
  if (!OWN_OBJECT_VERBS.includes(question.verb)) return "can only get, create, update, patch, or delete a node lease";
  if (question.resource.namespace !== LEASE_NAMESPACE) return `can only access leases in the "${LEASE_NAMESPACE}" system namespace`;
  return isOwnOrNew(question) ? undefined : "can only access node lease with the same name as the requesting node";
}

function usesCsiNode(question: NodeQuestion): Refusal {
  if (!OWN_OBJECT_VERBS.includes(question.verb)) return "can only get, create, update, patch, or delete a CSINode";
  if (question.resource.subresource !== "") return "cannot authorize CSINode subresources";
  return isOwnOrNew(question) ? undefined : "can only access CSINode with the same name as the requesting node";
}

function usesResourceSlice(question: NodeQuestion): Refusal {
  if (question.resource.subresource !== "") return "cannot authorize ResourceSlice subresources";
  switch (question.verb) {
    case "create":
      return undefined;
    case "get":
    case "update":
    case "patch":
    case "delete":
      return related(question, "resourceslices");
    case "watch":
    case "list":
    case "deletecollection":
      if (selectsOwn(question, "spec.nodeName")) return undefined;
      return "can only list/watch/deletecollection resourceslices with nodeName field selector";
    default:
      return "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection";
  }
}

/** Which Pods a node may create requests for is checked by NodeRestriction. */
function usesPodCertificateRequest(question: NodeQuestion): Refusal {
  const { verb, resource } = question;
  if (resource.subresource !== "") return "nodes may not access the status subresource of PodCertificateRequests";
  switch (verb) {
    case "create":
      return undefined;
    case "list":
    case "watch":
      if (selectsOwn(question, "spec.nodeName")) return undefined;
      return "can only list/watch podcertificaterequests with nodeName field selector";
    default:
      return `nodes may not ${verb} podcertificaterequests`;
  }
}

function usesNode({ node, verb, resource: { subresource, name } }: NodeQuestion): Refusal {
  if (subresource === "status") return verb === "update" || verb === "patch" ? undefined : "";
  if (subresource !== "") return "";
  switch (verb) {
    case "create":
    case "update":
    case "patch":
      return undefined;
    case "get":
    case "list":
    case "watch":
      // By name, so that a node can check for its object before it creates it.
      if (name === node) return undefined;
      return `node '${node}' cannot read ${name === "" ? "all nodes" : `'${name}'`}, only its own Node object`;
    default:
      return "";
  }
}

function usesPod(question: NodeQuestion): Refusal {
  const { verb, resource } = question;
  switch (resource.subresource) {
    case "":
      return usesWholePod(question);
    case "status":
      return verb === "update" || verb === "patch" ? undefined : "";
    case "eviction":
      return verb === "create" ? undefined : "";
    default:
      return "";
  }
}

function usesWholePod(question: NodeQuestion): Refusal {
  switch (question.verb) {
    case "get":
      return related(question, "pods");
    case "list":
    case "watch":
      if (selectsOwn(question, "spec.nodeName")) return undefined;
      return question.resource.name === "" ? "can only list/watch pods with spec.nodeName field selector" : related(question, "pods");
    // Mirror pods.
    case "create":
    case "delete":
      return undefined;
    default:
      return "";
  }
}

/** True if the selector restricts the request to this node. An invalid selector restricts nothing. */
function selectsOwn({ node, resource: { fieldSelector = "" } }: NodeQuestion, wanted: string): boolean {
  if (fieldSelector === "") return false;
  try {
    const { requirements } = parseFieldSelector(fieldSelector);
    return requirements.some(({ field, operator, value }) => field === wanted && operator === "=" && value === node);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}
