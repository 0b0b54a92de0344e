/** Evaluates one mutation of a policy and applies it: an apply configuration is merged by the schema, a JSON patch is applied as such. */
import { mergeObjects } from "../../../api/machinery/apply/merge.ts";
import { describeMistakes } from "../../../api/machinery/apply/validate.ts";
import { decodeBySchema } from "../../../api/machinery/codec/decode.ts";
import { describeMistake, strictDecodingSentence } from "../../../api/machinery/codec/strict.ts";
import { apiVersionOf, isObject, type Json, type JsonObject, type KubeObject } from "../../../api/machinery/object.ts";
import { applyJsonPatch } from "../../../api/machinery/patch/json-patch.ts";
import type { ObjectSchema } from "../../../api/machinery/schema.ts";
import { internalError, StatusError } from "../../../api/machinery/status-error.ts";
import { CreatedObject, typeNameProblems } from "../../../cel/library/patch-objects.ts";
import { toJson } from "../../../cel/values/json.ts";
import { ListValue, type CelValue } from "../../../cel/values/value.ts";
import { kindText, type AdmissionTarget } from "../../shared/admission/admission-target.ts";
import type { ExpressionEvaluation } from "../../shared/admission-policy/expression-input.ts";
import { atomicsOf } from "./atomic-fields.ts";
import type { CompiledMutation } from "./compile-policy.ts";

/** The mutation failed: the policy's failurePolicy decides. */
export class MutationError extends Error {
  override readonly name = "MutationError";
}

export interface MutatedObject {
  readonly object: KubeObject;
  readonly target: AdmissionTarget;
}

/** The changed and defaulted object. Rejects with MutationError, OutOfBudget or, where the server is to blame, a StatusError. */
export async function applyMutation(
  mutation: CompiledMutation,
  evaluation: ExpressionEvaluation,
  { object, target }: MutatedObject,
): Promise<KubeObject> {
  const { kind, schema, endpoint, isWhole } = target;
  if (schema === undefined) {
    const why = `Resource kind ${kindText(kind)} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`;
    throw new StatusError("ServiceUnavailable", why);
  }
  if (!mutation.expression.ok) throw new MutationError(mutation.expression.message);
  const result = await evaluation.evaluate(mutation.source, mutation.expression);
  if (!result.ok) throw new MutationError(result.message);
  const changed = mutation.patchType === "JSONPatch" ? jsonPatched(object, result.value) : applied(object, result.value, target, schema);
  if (changed === object) return object;
  rejectOtherKind(changed, target);
  const decoded = decode(changed, target, schema);
  return isWhole ? (endpoint.served.defaults?.(decoded) ?? decoded) : decoded;
}

function decode(value: Json, { kind, endpoint, isWhole }: AdmissionTarget, schema: ObjectSchema): KubeObject {
  try {
    // Unknown fields of custom resources are dropped, those of other kinds are errors.
    const custom = isWhole ? endpoint.served.decode?.(value) : undefined;
    const { object, unknownFields } = custom ?? decodeBySchema(value, schema);
    const mistakes = custom === undefined ? unknownFields.map((path) => describeMistake({ what: "unknown", path })) : [];
    if (mistakes.length > 0) throw new Error(strictDecodingSentence(mistakes));
    return { ...(object as KubeObject), kind: kind.kind, apiVersion: apiVersionOf(kind) };
  } catch (error) {
    throw internalError(error);
  }
}

/** A JSON patch cannot turn an object into one of another kind. */
function rejectOtherKind(changed: Json, { kind }: AdmissionTarget): void {
  if (!isObject(changed) || (changed["kind"] === kind.kind && changed["apiVersion"] === apiVersionOf(kind))) return;
  throw internalError(new Error("the JSON patch of a MutatingAdmissionPolicy may not change apiVersion or kind"));
}

function applied(object: KubeObject, value: CelValue, { kind }: AdmissionTarget, schema: ObjectSchema): Json {
  checkTypeNames(value);
  const configuration = { ...(toJson(value) as JsonObject), kind: kind.kind, apiVersion: apiVersionOf(kind) };
  const mistakes = describeMistakes(schema, configuration);
  if (mistakes !== undefined) throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${mistakes}`);
  const atomics = atomicsOf(schema, configuration);
  if (atomics.length > 0) {
    const what = `may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`;
    throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${what}`);
  }
  return mergeObjects(schema, object, configuration);
}

function checkTypeNames(value: CelValue): void {
  const problems = typeNameProblems(value);
  if (problems.length > 0) throw new MutationError(`type mismatch: ${problems.join("\n")}`);
}

function jsonPatched(object: KubeObject, value: CelValue): Json {
  const patch = operationsOf(value);
  if (patch.length === 0) return object;
  try {
    return applyJsonPatch(object, patch);
  } catch (error) {
    const why = ((error as Error).cause ?? error) as Error;
    // A failed test means that the patch is not wanted.
    if (/^testing value .* failed/.test(why.message)) return object;
    throw new MutationError(`JSON Patch: ${why.message}`);
  }
}

function operationsOf(value: CelValue): readonly JsonObject[] {
  if (!(value instanceof ListValue)) throw new MutationError("type mismatch: JSONPatchType.expression should evaluate to array");
  return Array.from({ length: value.size }, (_, index) => {
    const operation = value.at(index);
    if (!(operation instanceof CreatedObject)) {
      throw new MutationError("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch");
    }
    checkTypeNames(operation.fields.get("value") ?? null);
    const {
      op = "",
      path = "",
      from = "",
      ...rest
    } = toJson(operation) as { readonly op?: string; readonly path?: string; readonly from?: string };
    return { op, path, ...(from === "" ? {} : { from }), ...rest };
  });
}
