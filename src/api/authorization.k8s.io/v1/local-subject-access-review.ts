/**
 * authorization.k8s.io/v1 LocalSubjectAccessReview: whether a user is allowed an action in this namespace, for callers that may only ask
 * there. Not here: the answer (apiserver/resources/access-review).
 */
import type { LocalSubjectAccessReview } from "../../generated/authorization.k8s.io/v1.ts";
import { invalid } from "../../machinery/field-error.ts";
import { defineResource } from "../../machinery/resource.ts";
import { shownAttributes, validateEmptyMetadata, validateReviewSpec } from "./review.ts";

export const localSubjectAccessReviews = defineResource<LocalSubjectAccessReview>({
  kind: "LocalSubjectAccessReview",
  plural: "localsubjectaccessreviews",
  singular: "localsubjectaccessreview",
  scope: "Namespaced",
  served: [{ group: "authorization.k8s.io", version: "v1", schema: "io.k8s.api.authorization.v1.LocalSubjectAccessReview" }],
  stored: false,
  verbs: ["create"],

  *validate({ spec, metadata }) {
    const { resourceAttributes, nonResourceAttributes } = spec;
    yield* validateReviewSpec(spec);
    yield* validateEmptyMetadata(metadata, ["namespace"]);
    const namespace = resourceAttributes?.namespace ?? "";
    if (resourceAttributes !== undefined && namespace !== metadata.namespace) {
      yield invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace");
    }
    if (nonResourceAttributes !== undefined) {
      yield invalid("spec.nonResourceAttributes", shownAttributes(nonResourceAttributes), "disallowed on this kind of request");
    }
  },

  columns: [],
});
