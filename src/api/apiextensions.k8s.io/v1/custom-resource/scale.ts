/** The scale subresource of custom resources: replicas and selector at paths that the definition names. */
import type { CustomResourceSubresourceScale } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { invalid, type FieldError } from "../../../machinery/field-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../machinery/object.ts";
import type { Subresource } from "../../../machinery/resource.ts";
import { memberAt } from "../../../machinery/selectors/json-path-value.ts";
import { internalError } from "../../../machinery/status-error.ts";
import { goTypeOf } from "../../../machinery/go-type.ts";
import { isInt64, isNumber } from "../schema/numbers.ts";
import { formatGo } from "./go-value.ts";

const INT32_MAX = 2_147_483_647;

/** ".spec.replicas" → ["spec", "replicas"]. */
export function pathOf(text: string): readonly string[] {
  return text.replace(/^\./, "").split(".");
}

export function scaleOf(scale: CustomResourceSubresourceScale): Extract<Subresource, { readonly of: "scale" }> {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = "" } = scale;
  const replicasPath = pathOf(specReplicasPath);
  return {
    of: "scale",
    verbs: ["get", "patch", "update"],
    replicasPath,
    read(object) {
      const found = memberAt(object, replicasPath);
      if (found === undefined) throw internalError(new Error(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`));
      return {
        specReplicas: Number(found),
        statusReplicas: Number(memberAt(object, pathOf(statusReplicasPath)) ?? 0),
        selector: labelSelectorPath === "" ? "" : textAt(object, labelSelectorPath),
      };
    },
    write: (object, replicas) => withMember(object, replicasPath, replicas) as KubeObject,
  };
}

function textAt(object: JsonObject, path: string): string {
  const found = memberAt(object, pathOf(path));
  return typeof found === "string" ? found : "";
}

function withMember(object: JsonObject, [name = "", ...rest]: readonly string[], value: Json): JsonObject {
  const inner = Object.hasOwn(object, name) ? object[name] : undefined;
  const next = rest.length === 0 ? value : withMember(isObject(inner) ? inner : {}, rest, value);
  return { ...object, [name]: next };
}

export function* validateScaleSpec(object: JsonObject, { specReplicasPath }: CustomResourceSubresourceScale): Iterable<FieldError> {
  yield* validateReplicas(object, specReplicasPath);
}

export function* validateScaleStatus(object: JsonObject, scale: CustomResourceSubresourceScale): Iterable<FieldError> {
  const { statusReplicasPath, labelSelectorPath } = scale;
  yield* validateReplicas(object, statusReplicasPath);
  if (labelSelectorPath === undefined) return;
  const selector = memberAt(object, pathOf(labelSelectorPath));
  if (selector === undefined || typeof selector === "string") return;
  yield invalid(labelSelectorPath, "", wrongType(labelSelectorPath, selector, "string"));
}

function* validateReplicas(object: JsonObject, path: string): Iterable<FieldError> {
  const parent = wrongParent(object, pathOf(path));
  if (parent !== undefined) yield invalid(path, 0, wrongType(parent.path, parent.value, "map[string]interface{}"));
  const replicas = memberAt(object, pathOf(path));
  if (replicas === undefined) return;
  if (!isNumber(replicas) || !isInt64(replicas)) yield invalid(path, 0, wrongType(path, replicas, "int64"));
  else if (replicas < 0) yield invalid(path, replicas, "should be a non-negative integer");
  else if (replicas > INT32_MAX) yield invalid(path, replicas, `should be less than or equal to ${INT32_MAX}`);
}

/** The first value on the path that has no members, and the path of the member that was looked for in it. */
function wrongParent(object: JsonObject, names: readonly string[]): { readonly path: string; readonly value: Json } | undefined {
  let value: Json | undefined = object;
  for (const [index, name] of names.entries()) {
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) return { path: `.${names.slice(0, index + 1).join(".")}`, value };
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return undefined;
}

/** Upstream's message for a member of an unexpected type. */
function wrongType(path: string, value: Json, expected: string): string {
  return `${path} accessor error: ${formatGo(value)} is of the type ${goTypeOf(value)}, expected ${expected}`;
}
