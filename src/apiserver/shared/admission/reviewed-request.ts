/** The members of an AdmissionRequest (admission.k8s.io) that webhooks and expressions have in common: all but uid and objects. */
import type { GroupVersionKind, JsonObject } from "../../../api/machinery/object.ts";
import type { AdmissionRequest, OperationOptions } from "../../framework/admission.ts";
import { userInfo } from "../user-info.ts";
import { kindOf, type AdmissionTarget } from "./admission-target.ts";
import { namespaceOf } from "./selected-request.ts";

export function reviewedRequest(request: AdmissionRequest, target: AdmissionTarget): JsonObject {
  const { endpoint, subresource, operation, name, dryRun, options, context } = request;
  const namespace = namespaceOf(request);
  return {
    kind: groupVersionKind(target.kind),
    resource: resourceOf(target.endpoint),
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: groupVersionKind(kindOf(endpoint, subresource)),
    requestResource: resourceOf(endpoint),
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: userInfo(context.user),
    dryRun,
    options: optionsOf(operation, options),
  };
}

const OPTIONS_KINDS = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions", CONNECT: "" } as const;
const WRITE_OPTIONS = ["dryRun", "fieldManager", "fieldValidation"] as const;
const DELETE_OPTIONS = ["gracePeriodSeconds", "preconditions", "orphanDependents", "propagationPolicy", "dryRun"] as const;

/** As upstream, a patch has UpdateOptions. */
function optionsOf(operation: AdmissionRequest["operation"], options: OperationOptions | undefined): JsonObject | null {
  const kind = OPTIONS_KINDS[operation];
  if (kind === "" || options === undefined) return null;
  const members = (operation === "DELETE" ? DELETE_OPTIONS : WRITE_OPTIONS).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { kind, apiVersion: "meta.k8s.io/v1", ...Object.fromEntries(members) };
}

function groupVersionKind({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind };
}

function resourceOf({ served: { group, version }, resource }: AdmissionRequest["endpoint"]): JsonObject {
  return { group, version, resource: resource.plural };
}
