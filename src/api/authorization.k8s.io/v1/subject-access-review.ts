/**
 * authorization.k8s.io/v1 SubjectAccessReview: "may this user do that?" A question, never stored: the answer is in the reply's status.
 * Not here: who answers (apiserver/resources/access-review).
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

  // It is shown in full or not at all: asking for a table is answered with 406.
  columns: [],
});
