/**
 * authorization.k8s.io/v1 SubjectAccessReview: whether a user is allowed an action. Never stored: the answer is in the status of the
 * response. Not here: the answer (apiserver/resources/access-review).
 */
import type { SubjectAccessReview } from "../../generated/authorization.k8s.io/v1.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validateEmptyMetadata, validateReviewSpec } from "./review.ts";

export const subjectAccessReviews = defineResource<SubjectAccessReview>({
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  singular: "subjectaccessreview",
  scope: "Cluster",
  served: [{ group: "authorization.k8s.io", version: "v1", schema: "io.k8s.api.authorization.v1.SubjectAccessReview" }],
  stored: false,
  verbs: ["create"],

  *validate({ spec, metadata }) {
    yield* validateReviewSpec(spec);
    yield* validateEmptyMetadata(metadata);
  },

  // It has no table: requesting one is answered with 406.
  columns: [],
});
