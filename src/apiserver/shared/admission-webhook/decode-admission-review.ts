/**
 * Decodes the response of an admission webhook by its type: a value of a wrong type is a failed call, to which the failure policy applies,
 * and not a denial. Not here: whether the response answers the request (admission-review.ts).
 */
import type { Json, JsonObject } from "../../../api/machinery/object.ts";
import type { Schema } from "../../../api/machinery/schema.ts";
import { schemaOf } from "../../../api/schemas.ts";
import { decodeReviewAs, reviewType } from "../webhook-review/decode-review.ts";

export const REVIEW_GROUP = "admission.k8s.io";
export const REVIEW_KIND = "AdmissionReview";

export type ReviewVersion = "v1" | "v1beta1";

const STRING: Schema = { type: "string" };

const REVIEW = reviewType(REVIEW_KIND, {
  kind: STRING,
  apiVersion: STRING,
  response: reviewType("AdmissionResponse", {
    uid: STRING,
    allowed: { type: "boolean" },
    status: schemaOf("io.k8s.apimachinery.pkg.apis.meta.v1.Status"),
    patch: { type: "string", format: "byte" },
    patchType: STRING,
    auditAnnotations: { type: "map", values: STRING },
    warnings: { type: "list", items: STRING, listType: "atomic" },
  }),
});

/** Throws an Error. */
export function decodeAdmissionReview(answer: Json, version: ReviewVersion): JsonObject {
  return decodeReviewAs(answer, { group: REVIEW_GROUP, version, kind: REVIEW_KIND }, REVIEW);
}
