/** From a request to what authorizers are asked, in one place, so that every question about it is the same. */
import { parseFieldSelector } from "../../../api/machinery/selectors/field-selector.ts";
import { SelectorError } from "../../../api/machinery/selectors/label-requirement.ts";
import { validatePathSegmentName } from "../../../api/machinery/names.ts";
import type { AccessAttributes, Authorizer } from "../authorization.ts";
import { accessRefusal } from "./forbidden-message.ts";
import type { ApiRequest } from "../request.ts";

export function accessOf(request: ApiRequest, verb: string): AccessAttributes {
  const { group, version, plural, subresource, options, context } = request;
  const { fieldSelector, labelSelector } = options;
  const resource = { group, version, plural, subresource, namespace: namespaceOf(request), name: nameOf(request) };
  if (fieldSelector === undefined && labelSelector === undefined) return { user: context.user, verb, resource, path: "" };
  const selectors = {
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
  return { user: context.user, verb, resource: { ...resource, ...selectors }, path: "" };
}

/** A namespace is in itself: who may read what is in it may be given to read it, too. */
function namespaceOf({ plural, namespace, name }: ApiRequest): string {
  return plural === "namespaces" && namespace === "" ? name : namespace;
}

/** A list or a watch of what has one name is about that one object: so may ask who may read only that. */
function nameOf({ verb, name, options: { fieldSelector = "" } }: ApiRequest): string {
  return name === "" && (verb === "list" || verb === "watch") ? chosenName(fieldSelector) : name;
}

/** The only name that a field selector leaves; "" if it leaves more. */
export function chosenName(fieldSelector: string): string {
  if (!fieldSelector.includes("metadata.name")) return "";
  try {
    const chosen = parseFieldSelector(fieldSelector).exactValue("metadata.name") ?? "";
    return validatePathSegmentName(chosen).length === 0 ? chosen : "";
  } catch (error) {
    // The list itself will say so.
    if (error instanceof SelectorError) return "";
    throw error;
  }
}

/** Some requests are two: a PUT that creates needs "create", too. Throws the refusal if whoever asks may not. */
export function mustBeAllowed(authorizer: Authorizer, request: ApiRequest, verb: string): void {
  const access = accessOf(request, verb);
  const { allowed, reason = "" } = authorizer.authorize(access);
  if (!allowed) throw accessRefusal(access, reason);
}
