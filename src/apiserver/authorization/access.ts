/** From a request to what authorizers are asked, in one place, so that every question about it is the same. */
import type { AccessAttributes, Authorizer } from "../authorization.ts";
import { refusal } from "../refusal.ts";
import type { ApiRequest } from "../request.ts";

export function accessOf(request: ApiRequest, verb: string): AccessAttributes {
  const { group, version, plural, subresource, namespace, name, options, context } = request;
  const { fieldSelector, labelSelector } = options;
  const selectors = { ...(fieldSelector === undefined ? {} : { fieldSelector }), ...(labelSelector === undefined ? {} : { labelSelector }) };
  return { user: context.user, verb, resource: { group, version, plural, subresource, namespace, name, ...selectors }, path: "" };
}

/** Some requests are two: a PUT that creates needs "create", too. Throws the refusal if whoever asks may not. */
export function mustBeAllowed(authorizer: Authorizer, request: ApiRequest, verb: string): void {
  const { allowed, reason = "" } = authorizer.authorize(accessOf(request, verb));
  if (!allowed) throw refusal(request, verb, reason);
}
