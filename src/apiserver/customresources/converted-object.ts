/**
 * Checks an object that a conversion webhook returned: it must have the requested type and the identity of the original. Of its metadata
 * only labels and annotations are taken over, if they are valid. Messages are upstream's.
 */
import { goTypeOf } from "../../api/machinery/go-type.ts";
import { describeFieldError, type FieldError } from "../../api/machinery/field-error.ts";
import { errorsOf } from "../../api/machinery/findings.ts";
import { validateAnnotations, validateLabels } from "../../api/machinery/metadata-validation.ts";
import { isObject, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "../../api/machinery/object.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

export type ConvertedObject =
  | { readonly ok: true; readonly object: KubeObject }
  /** What is wrong with the object at `index` of the response. */
  | { readonly ok: false; readonly what: string };

export interface ReturnedObject {
  readonly original: KubeObject;
  readonly converted: Json;
  readonly apiVersion: string;
  /** Position in the response; undefined if one object was converted. */
  readonly index: number | undefined;
}

export function convertedObject({ original, converted, apiVersion, index }: ReturnedObject): ConvertedObject {
  const at = (one: string, many: string) => (index === undefined ? one : `${many} at index ${index}`);
  const wrong = (what: string, problem: string): ConvertedObject => ({ ok: false, what: `returned invalid ${what}: ${problem}` });
  const object: JsonObject = isObject(converted) ? converted : {};
  const type = typeProblem(original, object, apiVersion);
  if (type !== undefined) return wrong(at("object at index 0", "converted object"), type);
  const { metadata } = object;
  const identity = identityProblem(original.metadata, isObject(metadata) ? metadata : {});
  if (identity !== undefined) return wrong(at("object", "converted object"), identity);
  try {
    return { ok: true, object: { ...object, kind: original.kind, apiVersion, metadata: restored(original.metadata, metadata) } };
  } catch (error) {
    return wrong(at("metadata", "metadata in object"), (error as Error).message);
  }
}

function typeProblem({ kind }: KubeObject, object: JsonObject, apiVersion: string): string | undefined {
  const [foundVersion, foundKind] = [textOf(object["apiVersion"]), textOf(object["kind"])];
  if (foundVersion !== apiVersion) return `invalid groupVersion (expected ${apiVersion}, received ${foundVersion})`;
  return foundKind === kind ? undefined : `invalid kind (expected ${kind}, received ${foundKind})`;
}

const IDENTITY = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
] as const;

function identityProblem(original: ObjectMeta, converted: JsonObject): string | undefined {
  for (const [member, label] of IDENTITY) {
    const [before = "", after] = [original[member], textOf(converted[member])];
    if (before !== after) return `must have the same ${label}: ${before} != ${after}`;
  }
  return undefined;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Throws an Error. */
function restored(original: ObjectMeta, converted: Json | undefined): ObjectMeta {
  if (!isObject(converted)) throw new Error("missing metadata in converted object");
  const { labels, annotations, ...rest } = original;
  return {
    ...rest,
    ...textsOf(converted, {
      member: "labels",
      before: labels,
      validate: (texts, at) => errorsOf((errors) => validateLabels(errors, texts, at)),
    }),
    // Upstream's path has no "s".
    ...textsOf(converted, {
      member: "annotations",
      before: annotations,
      validate: (texts) => errorsOf((errors) => validateAnnotations(errors, texts, "metadata.annotation")),
    }),
  };
}

type Texts = Readonly<Record<string, string>>;

interface TextsOfMetadata {
  readonly member: "labels" | "annotations";
  readonly before: Texts | undefined;
  validate(texts: Texts, at: string): Iterable<FieldError>;
}

/** Unchanged ones are not validated: the object may be older than the rules. */
function textsOf(metadata: JsonObject, { member, before = {}, validate }: TextsOfMetadata): Partial<ObjectMeta> {
  const texts = metadata[member];
  if (texts === undefined || texts === null) return {};
  if (!isObject(texts)) throw new Error(`invalid metadata.${member} of type ${goTypeOf(texts)} in converted object`);
  for (const [key, value] of Object.entries(texts)) {
    if (typeof value === "string") continue;
    throw new Error(`metadata.${member}[${key}] must be a string, but is ${goTypeOf(value ?? null)} in converted object`);
  }
  const strings = texts as Texts;
  const isChanged =
    Object.keys(before).length !== Object.keys(strings).length || Object.keys(strings).some((key) => before[key] !== strings[key]);
  const errors = isChanged ? [...validate(strings, `metadata.${member}`)] : [];
  if (errors.length > 0) throw new Error(joinedErrors(errors.map(describeFieldError)));
  return { [member]: strings };
}
