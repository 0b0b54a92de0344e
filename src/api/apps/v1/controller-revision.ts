/**
 * apps/v1 ControllerRevision: a snapshot of a DaemonSet or StatefulSet, for rollbacks. The server does not interpret the data; it only
 * ensures that it is immutable.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { ControllerRevision } from "../../generated/apps/v1.ts";
import { ageColumn, nameColumn, NONE, textColumn } from "../../machinery/columns.ts";
import { immutable, required, type FieldError } from "../../machinery/field-error.ts";
import type { Json, ObjectMeta } from "../../machinery/object.ts";
import { defineResource } from "../../machinery/resource.ts";
import { nonNegative } from "../../number-validation.ts";

export const controllerRevisions = defineResource<ControllerRevision>({
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  singular: "controllerrevision",
  scope: "Namespaced",
  served: [{ group: "apps", version: "v1", schema: "io.k8s.api.apps.v1.ControllerRevision" }],

  *validate({ revision, data }, previous) {
    yield* nonNegative(revision, "revision");
    if (previous === undefined) yield* validateData(data);
    else if (!deepEqual(data, previous.data)) yield immutable("data", data);
  },

  columns: [
    nameColumn,
    textColumn("Controller", "Controller that owns the revision", ({ metadata }) => controllerName(metadata)),
    textColumn("Revision", "Revision number", ({ revision }) => revision),
    ageColumn,
  ],
});

function* validateData(data: Json | undefined): Iterable<FieldError> {
  if (data === undefined || data === null) yield required("data", "data is mandatory");
  else if (typeof data !== "object" || Array.isArray(data)) yield required("data", "data must be a valid JSON object");
}

/** "daemonset.apps/agent". */
function controllerName({ ownerReferences = [] }: ObjectMeta): string {
  const controller = ownerReferences.find((reference) => reference.controller === true);
  if (controller === undefined) return NONE;
  const { apiVersion, kind, name } = controller;
  const [group] = apiVersion.includes("/") ? apiVersion.split("/") : [""];
  if (kind === "") return name;
  return `${kind.toLowerCase()}${group === "" ? "" : `.${group}`}/${name}`;
}
