/**
 * authentication.k8s.io/v1 SelfSubjectReview: "who am I?" A question, never stored: the answer is in the reply's status.
 * Not here: who answers (apiserver/resources/self-subject-review).
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
  // It is shown in full or not at all: asking for a table is answered with 406.
  columns: [],
});
