/**
 * Decodes the response of a webhook (AdmissionReview, ConversionReview) by its type as upstream's client does, with its messages: a value
 * of a wrong type makes the call fail. Not here: whether the response answers the request.
 */
import { completeKind, readTypeMeta } from "../../../api/machinery/codec/body-error.ts";
import { decodeBySchema } from "../../../api/machinery/codec/decode.ts";
import { apiVersionOf, type GroupVersionKind, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import type { Field, ObjectSchema, Schema } from "../../../api/machinery/schema.ts";

/** The name that upstream's message has for the types that its webhook client knows. */
const SCHEME = "k8s.io/apiserver/pkg/util/webhook/client.go:71";

const REVIEW_VERSIONS: readonly string[] = ["v1", "v1beta1"];

/** A type of a review, whose messages name it without its package. */
export function reviewType(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  const all = Object.entries(fields).map(([field, schema]): [string, Field] => [field, { name: field, schema, zero: "keep" }]);
  return { type: "object", name, fields: new Map(all), required: [] };
}

/** Throws an Error. A response that names no type is taken for the expected one. */
export function decodeReviewAs(answer: Json, expected: GroupVersionKind, schema: ObjectSchema): JsonObject {
  const found = completeKind(readTypeMeta(answer), expected);
  const isReview = found.group === expected.group && found.kind === expected.kind && REVIEW_VERSIONS.includes(found.version);
  if (!isReview) throw new Error(`no kind "${found.kind}" is registered for version "${apiVersionOf(found)}" in scheme "${SCHEME}"`);
  if (found.version !== expected.version) {
    const type = (version: string) => `(${version}.${expected.kind})`;
    throw new Error(`converting ${type(found.version)} to ${type(expected.version)}: unknown conversion`);
  }
  return decodeBySchema(answer ?? {}, schema).object as JsonObject;
}
