/**
 * authentication.k8s.io/v1 TokenReview: returns the identity of a token. Never stored: the answer is in the status of the response. Not
 * here: the answer, and rejecting a review without a token (apiserver/resources/token-review).
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
