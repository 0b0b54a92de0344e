/**
 * core/v1 Binding: assigns a Pod to a node, written by the scheduler. Executed, never stored. Not here: the execution
 * (apiserver/shared/bind-pod.ts).
 */
import type { Binding } from "../../generated/core/v1.ts";
import { notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { ANNOTATIONS_SIZE_MAX_BYTES } from "../../machinery/metadata-validation.ts";
import { defineResource } from "../../machinery/resource.ts";

/** Its annotations (at most 256 KiB) and labels are copied to the Pod, and JSON may escape a character with several bytes. */
export const BINDING_BYTES_MAX = 2 * ANNOTATIONS_SIZE_MAX_BYTES;

export const bindings = defineResource<Binding>({
  kind: "Binding",
  plural: "bindings",
  singular: "binding",
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.Binding" }],
  stored: false,
  bodyBytesMax: BINDING_BYTES_MAX,
  verbs: ["create"],
  columns: [],
});

/** Called by the action that executes it. */
export function* validateBinding({ target }: Binding): Iterable<FieldError> {
  if ((target.kind ?? "") !== "" && target.kind !== "Node") yield notSupported("target.kind", target.kind, ["Node", "<empty>"]);
  if ((target.name ?? "") === "") yield required("target.name");
}
