/**
 * Rejects creates in a namespace that does not exist or is terminating, and deletes of the system namespaces. Equivalent to upstream's
 * plugin of this name. Exact where this process owns the store; on a shared store the cache may lag slightly, as upstream's.
 */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { forbiddenError, notFound, StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";

const IMMORTAL = ["default", "kube-system", "kube-public"];

const NAMESPACES = { group: "", plural: "namespaces" };

export function namespaceLifecycle({ objects }: AdmissionDependencies): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",

    validate(request) {
      if (isNamespace(request)) protectImmortal(request);
    },

    // Changes nothing, but runs before validation, so that a missing namespace is reported first.
    mutate(request) {
      if (request.operation !== "CREATE" || request.namespace === "" || isNamespace(request) || isReview(request)) return undefined;
      // The cache is sufficient where this process owns the store, and saves a round trip where it does not.
      const name = { namespace: "", name: request.namespace };
      const found = objects.cached(NAMESPACES, name);
      if (found === undefined) return objects.get(NAMESPACES, name).then((namespace) => check(request, namespace));
      return check(request, found);
    },

    start: () => objects.load(NAMESPACES),
  };
}

function check(request: AdmissionRequest, namespace: KubeObject | undefined): undefined {
  if (namespace === undefined) throw notFound(NAMESPACES, request.namespace);
  if (namespace.metadata.deletionTimestamp !== undefined) throw terminating(request);
  return undefined;
}

function isNamespace({ endpoint }: AdmissionRequest): boolean {
  return endpoint.name.group === "" && endpoint.name.plural === "namespaces";
}

/** Reviews are answered but not stored; they need no existing namespace. */
function isReview({ endpoint }: AdmissionRequest): boolean {
  return !endpoint.resource.stored;
}

function protectImmortal({ operation, name, subresource }: AdmissionRequest): void {
  if (operation !== "DELETE" || subresource !== "" || !IMMORTAL.includes(name)) return;
  throw forbiddenError(NAMESPACES, name, "this namespace may not be deleted");
}

function terminating({ endpoint, name, namespace }: AdmissionRequest): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { message, details } = forbiddenError(endpoint.name, name, why);
  const cause = { reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" };
  return new StatusError("Forbidden", message, { details: { ...details, causes: [cause] } });
}
