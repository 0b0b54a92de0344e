/** SubjectAccessReview: would somebody be allowed to? The answer is that of the authorizer which every request asks. */
import type { SubjectAccessReview } from "../../../api/generated/authorization.k8s.io/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AccessAttributes } from "../../authorization.ts";
import type { User } from "../../request.ts";
import type { ServerContext } from "../../server-context.ts";
import type { ResourceExtension } from "../../extension.ts";

export function subjectAccessReviewExtension({ authorizer }: ServerContext): ResourceExtension {
  return {
    group: "authorization.k8s.io",
    plural: "subjectaccessreviews",
    answer(_request, object) {
      const review = object as unknown as SubjectAccessReview;
      const { allowed, denied, reason } = authorizer.authorize(attributesOf(review));
      const status = { allowed, ...(denied === true ? { denied } : {}), ...(reason === undefined ? {} : { reason }) };
      return { ...review, status } as unknown as KubeObject;
    },
  };
}

function attributesOf({ spec }: SubjectAccessReview): AccessAttributes {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const user: User = {
    name: spec.user ?? "",
    groups: spec.groups ?? [],
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    ...(spec.extra === undefined ? {} : { extra: spec.extra }),
  };
  if (resourceAttributes === undefined) return { user, verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" };
  const { verb = "", group = "", version = "*", resource = "", subresource = "", namespace = "", name = "" } = resourceAttributes;
  return { user, verb, path: "", resource: { group, version, plural: resource, subresource, namespace, name } };
}
