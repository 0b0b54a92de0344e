/**
 * authentication.k8s.io/v1 TokenReview: "whose token is this?" A question, never stored: the answer is in the reply's status.
 * Not here: who answers, and refuses a question without a token (apiserver/resources/token-review).
 */
import type { TokenReview } from "../../generated/authentication.k8s.io/v1.ts";
import { defineResource } from "../../machinery/resource.ts";

export const tokenReviews = defineResource<TokenReview>({
  kind: "TokenReview",
  plural: "tokenreviews",
  singular: "tokenreview",
  scope: "Cluster",
  served: [{ group: "authentication.k8s.io", version: "v1", schema: "io.k8s.api.authentication.v1.TokenReview" }],
  stored: false,
  verbs: ["create"],
  columns: [],
});
