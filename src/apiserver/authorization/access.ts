/** From a request to what authorizers are asked, in one place, so that every question about it is the same. */
import type { AccessAttributes } from "../authorization.ts";
import type { ApiRequest } from "../request.ts";

export function accessOf(request: ApiRequest, verb: string): AccessAttributes {
  const { group, version, plural, subresource, namespace, name, options, context } = request;
  const { fieldSelector, labelSelector } = options;
  const selectors = { ...(fieldSelector === undefined ? {} : { fieldSelector }), ...(labelSelector === undefined ? {} : { labelSelector }) };
  return { user: context.user, verb, resource: { group, version, plural, subresource, namespace, name, ...selectors }, path: "" };
}
