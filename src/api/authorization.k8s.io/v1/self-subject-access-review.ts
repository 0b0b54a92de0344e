/**
 * authorization.k8s.io/v1 SelfSubjectAccessReview: whether the caller is allowed an action. Never stored; `kubectl auth can-i` sends it.
 * Not here: the answer (apiserver/resources/access-review).
 */
import type { SelfSubjectAccessReview } from "../../generated/authorization.k8s.io/v1.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validateEmptyMetadata, validateQuestion } from "./review.ts";

export const selfSubjectAccessReviews = defineResource<SelfSubjectAccessReview>({
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  singular: "selfsubjectaccessreview",
  scope: "Cluster",
  served: [{ group: "authorization.k8s.io", version: "v1", schema: "io.k8s.api.authorization.v1.SelfSubjectAccessReview" }],
  stored: false,
  verbs: ["create"],

  *validate({ spec, metadata }) {
    yield* validateQuestion(spec);
    yield* validateEmptyMetadata(metadata);
  },

  columns: [],
});
