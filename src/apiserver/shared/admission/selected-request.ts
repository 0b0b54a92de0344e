/** The selectors of webhooks and policies: by the labels of the namespace, and by those of the object. */
import type { Namespace } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { LabelSelector } from "../../../api/machinery/selectors/label-selector.ts";
import { notFound } from "../../../api/machinery/status-error.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import type { Objects } from "../../framework/objects.ts";

export const NAMESPACES = { group: "", plural: "namespaces" };

export interface RequestSelectors {
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/**
 * True if both selectors match. Cluster-scoped objects match every namespaceSelector; a Namespace is matched by its own labels. Throws
 * NotFound if the namespace does not exist. A promise only if the namespace is not in memory.
 */
export function isSelected(objects: Objects, selectors: RequestSelectors, request: AdmissionRequest): boolean | Promise<boolean> {
  const { namespaceSelector, objectSelector } = selectors;
  if (!isObjectSelected(objectSelector, request)) return false;
  if (namespaceSelector.isEverything) return true;
  const name = namespaceOf(request);
  if (name === "") return true;
  const { operation, subresource, object } = request;
  // Its stored labels are not those that the request sets.
  if (isNamespace(request) && subresource === "" && (operation === "CREATE" || operation === "UPDATE")) {
    return namespaceSelector.matches(object?.metadata.labels);
  }
  const found = objects.cached<Namespace>(NAMESPACES, { namespace: "", name });
  if (found !== undefined) return namespaceSelector.matches(found.metadata.labels);
  return objects.get<Namespace>(NAMESPACES, { namespace: "", name }).then((namespace) => {
    if (namespace === undefined) throw notFound(NAMESPACES, name);
    return namespaceSelector.matches(namespace.metadata.labels);
  });
}

/** The namespace of a request; that of a Namespace is itself. */
export function namespaceOf(request: AdmissionRequest): string {
  return isNamespace(request) ? request.name || request.namespace : request.namespace;
}

function isNamespace({ endpoint: { name } }: AdmissionRequest): boolean {
  return name.group === "" && name.plural === "namespaces";
}

/** By the labels before or after the change. */
function isObjectSelected(selector: LabelSelector, { object, oldObject }: AdmissionRequest): boolean {
  if (selector.isEverything) return true;
  return [object, oldObject].some((one) => hasMetadata(one) && selector.matches(one.metadata.labels));
}

/** The options of a connection have no metadata, whatever the type says. */
function hasMetadata(object: KubeObject | undefined): object is KubeObject {
  return (object as Partial<KubeObject> | undefined)?.metadata !== undefined;
}
