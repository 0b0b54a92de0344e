/** Objects that belong to a node by their name or by a node name field. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import { refuse } from "./errors.ts";

const LEASE_NAMESPACE = "kube-node-lease";

export function checkLease(request: AdmissionRequest, node: string): void {
  if (request.namespace !== LEASE_NAMESPACE) refuse(request, `can only access leases in the "${LEASE_NAMESPACE}" system namespace`);
  if (request.name !== node) refuse(request, "can only access node lease with the same name as the requesting node");
}

export function checkCsiNode(request: AdmissionRequest, node: string): void {
  if (request.name !== node) refuse(request, "can only access CSINode with the same name as the requesting node");
}

interface Slice extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

/** The node name is immutable, and the authorizer has checked the stored one. */
export function checkResourceSlice(request: AdmissionRequest, node: string): void {
  const { operation } = request;
  if (operation === "UPDATE") return;
  const slice: Slice | undefined = operation === "CREATE" ? request.object : request.oldObject;
  if (slice?.spec?.nodeName === node) return;
  refuse(request, `can only ${operation === "CREATE" ? "create" : "delete"} ResourceSlice with the same NodeName as the requesting node`);
}
