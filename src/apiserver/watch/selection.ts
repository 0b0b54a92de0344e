/** The objects that a request selects: a namespace, a name, label and field selectors. One value for lists and watches. */
import { parseFieldSelector, unsupportedFieldMessage, type FieldSelector } from "../../api/machinery/selectors/field-selector.ts";
import { parseLabelSelector, type LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { SelectableFields } from "../../api/machinery/resource.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";
import { workingForm } from "../framework/storage/prepared-objects.ts";
import type { StoredObject, WatchScope } from "../framework/storage/storage.ts";

export interface Selection {
  readonly scope: WatchScope;
  /** True if objects must be matched by more than their namespace. */
  readonly isFiltered: boolean;
  matches(object: StoredObject): boolean;
}

const ALWAYS_SELECTABLE: SelectableFields<KubeObject> = {
  "metadata.name": ({ metadata }) => metadata.name,
  "metadata.namespace": ({ metadata }) => metadata.namespace ?? "",
};

export function selectionOf(endpoint: Endpoint, request: ApiRequest): Selection {
  const labels = parsed(() => parseLabelSelector(request.options.labelSelector ?? ""));
  const fields = parsed(() => parseFieldSelector(request.options.fieldSelector ?? ""));
  const readers = readersOf(endpoint);
  checkFields(endpoint, fields, readers);
  const scope = scopeOf(endpoint, request, fields);
  const isFiltered = !labels.isEverything || !fields.isEverything || request.name !== "";
  return { scope, isFiltered, matches: matcherOf({ endpoint, labels, fields, readers, name: request.name }) };
}

/** A cluster-scoped kind with declared selectable fields does not support metadata.namespace; as upstream. */
function readersOf({ served, resource }: Endpoint): SelectableFields<KubeObject> {
  const own = served.selectableFields ?? resource.selectableFields;
  if (resource.scope === "Namespaced" || Object.keys(own).length === 0) return { ...own, ...ALWAYS_SELECTABLE };
  return { ...own, "metadata.name": ({ metadata }) => metadata.name };
}

function matcherOf({
  endpoint,
  labels,
  fields,
  readers,
  name,
}: {
  readonly endpoint: Endpoint;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  readonly readers: SelectableFields<KubeObject>;
  readonly name: string;
}): (object: StoredObject) => boolean {
  if (labels.isEverything && fields.isEverything && name === "") return () => true;
  return (stored) => {
    const object = workingForm(endpoint, stored);
    if (name !== "" && object.metadata.name !== name) return false;
    if (!labels.isEverything && !labels.matches(object.metadata.labels ?? {})) return false;
    return fields.isEverything || fields.matches((field) => readers[field]?.(object));
  };
}

/** The narrowest group of watchers: one object, one value of an index, a namespace. */
function scopeOf({ resource }: Endpoint, { namespace, name }: ApiRequest, fields: FieldSelector): WatchScope {
  const wanted = name === "" ? fields.exactValue("metadata.name") : name;
  if (wanted !== undefined) return { namespace, name: wanted };
  for (const path of resource.indexedFields ?? []) {
    const value = fields.exactValue(path);
    if (value !== undefined) return { namespace, field: { path, value } };
  }
  return { namespace };
}

function checkFields({ resource, served }: Endpoint, fields: FieldSelector, readers: SelectableFields<KubeObject>): void {
  const { group, version } = served;
  const hasOwn = Object.keys(served.selectableFields ?? resource.selectableFields).length > 0;
  for (const { field } of fields.requirements) {
    if (!Object.hasOwn(readers, field)) throw badRequest(unsupportedFieldMessage(field, { group, version, kind: resource.kind, hasOwn }));
  }
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest((error as Error).message, error);
  }
}
