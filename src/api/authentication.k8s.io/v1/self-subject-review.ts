/**
 * authentication.k8s.io/v1 SelfSubjectReview: returns the identity of the caller. Never stored: the answer is in the status of the
 * response. Not here: the answer (apiserver/resources/self-subject-review).
 */
import type { SelfSubjectReview } from "../../generated/authentication.k8s.io/v1.ts";
import { defineResource } from "../../machinery/resource.ts";

export const selfSubjectReviews = defineResource<SelfSubjectReview>({
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  singular: "selfsubjectreview",
  scope: "Cluster",
  served: [{ group: "authentication.k8s.io", version: "v1", schema: "io.k8s.api.authentication.v1.SelfSubjectReview" }],
  stored: false,
  verbs: ["create"],
  // It has no table: requesting one is answered with 406.
  columns: [],
});
