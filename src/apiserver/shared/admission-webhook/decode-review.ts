/**
 * Decodes the response of an admission webhook as upstream's client does, so that a value of a wrong type is a failed call, to which the
 * failure policy applies, and not a denial. Messages are upstream's. Not here: whether the response answers the request
 * (admission-review.ts).
 */
import { completeKind, readTypeMeta } from "../../../api/machinery/codec/body-error.ts";
import { decodeBySchema } from "../../../api/machinery/codec/decode.ts";
import { type Json, type JsonObject, apiVersionOf } from "../../../api/machinery/object.ts";
import type { Field, ObjectSchema, Schema } from "../../../api/machinery/schema.ts";
import { schemaOf } from "../../../api/schemas.ts";

export const REVIEW_GROUP = "admission.k8s.io";
export const REVIEW_KIND = "AdmissionReview";

export type ReviewVersion = "v1" | "v1beta1";

/** The name that upstream's message has for the types that its webhook client knows. */
const SCHEME = "k8s.io/apiserver/pkg/util/webhook/client.go:71";

const STRING: Schema = { type: "string" };

function typeOf(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  const all = Object.entries(fields).map(([field, schema]): [string, Field] => [field, { name: field, schema, zero: "keep" }]);
  return { type: "object", name: `io.k8s.api.admission.v1.${name}`, fields: new Map(all), required: [] };
}

const REVIEW = typeOf(REVIEW_KIND, {
  kind: STRING,
  apiVersion: STRING,
  response: typeOf("AdmissionResponse", {
    uid: STRING,
    allowed: { type: "boolean" },
    status: schemaOf("io.k8s.apimachinery.pkg.apis.meta.v1.Status"),
    patch: { type: "string", format: "byte" },
    patchType: STRING,
    auditAnnotations: { type: "map", values: STRING },
    warnings: { type: "list", items: STRING, listType: "atomic" },
  }),
});

/** Throws an Error. A response that names no type is taken for the expected one. */
export function decodeReview(answer: Json, version: ReviewVersion): JsonObject {
  const expected = { group: REVIEW_GROUP, version, kind: REVIEW_KIND };
  const found = completeKind(readTypeMeta(answer), expected);
  const isReview = found.group === REVIEW_GROUP && found.kind === REVIEW_KIND && (found.version === "v1" || found.version === "v1beta1");
  if (!isReview) throw new Error(`no kind "${found.kind}" is registered for version "${apiVersionOf(found)}" in scheme "${SCHEME}"`);
  if (found.version !== version) {
    throw new Error(`converting (${found.version}.${REVIEW_KIND}) to (${version}.${REVIEW_KIND}): unknown conversion`);
  }
  return decodeBySchema(answer ?? {}, REVIEW).object as JsonObject;
}
