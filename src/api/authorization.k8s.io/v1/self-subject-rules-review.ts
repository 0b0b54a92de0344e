/**
 * authorization.k8s.io/v1 SelfSubjectRulesReview: the permissions of the caller in a namespace. Never stored; `kubectl auth can-i --list`
 * sends it. Not here: the answer, and rejecting a review without a namespace (apiserver/resources/access-review).
 */
import type { SelfSubjectRulesReview } from "../../generated/authorization.k8s.io/v1.ts";
import { defineResource } from "../../machinery/resource.ts";

export const selfSubjectRulesReviews = defineResource<SelfSubjectRulesReview>({
  kind: "SelfSubjectRulesReview",
  plural: "selfsubjectrulesreviews",
  singular: "selfsubjectrulesreview",
  scope: "Cluster",
  served: [{ group: "authorization.k8s.io", version: "v1", schema: "io.k8s.api.authorization.v1.SelfSubjectRulesReview" }],
  stored: false,
  verbs: ["create"],
  columns: [],
});
