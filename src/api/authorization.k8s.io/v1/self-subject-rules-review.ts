/**
 * authorization.k8s.io/v1 SelfSubjectRulesReview: "what may I do in this namespace?", never stored: `kubectl auth can-i --list` asks it.
 * Not here: who answers, and refuses a question without a namespace (apiserver/resources/access-review).
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
