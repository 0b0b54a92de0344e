/**
 * core/v1 ConfigMap: texts and bytes by key, for programs to read. No defaults, no status.
 *
 * Once `immutable` is true it stays so, and the contents with it: kubelets stop watching such objects and would never see a change.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { ConfigMap } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { element, forbidden, invalid, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { validateConfigMapKey } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { CONTENTS_MAX_BYTES, decodedLength, IMMUTABLE, textLength, type Contents } from "./secret/contents.ts";

export const configMaps = defineResource<ConfigMap>({
  kind: "ConfigMap",
  plural: "configmaps",
  singular: "configmap",
  shortNames: ["cm"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.ConfigMap" }],

  *validate(configMap, previous) {
    if (previous !== undefined) yield* validateChange(configMap, previous);
    const { data = {}, binaryData = {} } = configMap;
    for (const key of Object.keys(data)) {
      yield* validateKey(key, "data");
      if (Object.hasOwn(binaryData, key)) yield invalid(element("data", key), key, "duplicate of key present in binaryData");
    }
    for (const key of Object.keys(binaryData)) yield* validateKey(key, "binaryData");
    // For upstream a field without a name is the whole object, printed as brackets.
    if (sizeOf(data, binaryData) > CONTENTS_MAX_BYTES) yield tooLong("[]", CONTENTS_MAX_BYTES);
  },

  columns: [
    nameColumn,
    textColumn("Data", "Number of keys", ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length),
    ageColumn,
  ],
});

function* validateChange(next: ConfigMap, previous: ConfigMap): Iterable<FieldError> {
  if (previous.immutable !== true) return;
  if (next.immutable !== true) yield forbidden("immutable", IMMUTABLE);
  if (!deepEqual(next.data ?? {}, previous.data ?? {})) yield forbidden("data", IMMUTABLE);
  if (!deepEqual(next.binaryData ?? {}, previous.binaryData ?? {})) yield forbidden("binaryData", IMMUTABLE);
}

function* validateKey(key: string, field: string): Iterable<FieldError> {
  for (const wrong of validateConfigMapKey(key)) yield invalid(element(field, key), key, wrong);
}

/** Only the values count, as upstream. */
function sizeOf(data: Contents, binaryData: Contents): number {
  let sizeBytes = 0;
  for (const text of Object.values(data)) sizeBytes += textLength(text);
  for (const base64 of Object.values(binaryData)) sizeBytes += decodedLength(base64);
  return sizeBytes;
}
