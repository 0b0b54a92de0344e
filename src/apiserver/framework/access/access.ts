/** Builds the attributes that authorizers get from a request. One place, so that every check of a request uses the same ones. */
import { parseFieldSelector } from "../../../api/machinery/selectors/field-selector.ts";
import { SelectorError } from "../../../api/machinery/selectors/label-requirement.ts";
import { validatePathSegmentName } from "../../../api/machinery/names.ts";
import type { AccessAttributes, AccessDecision, Authorizer } from "../authorization.ts";
import { forbiddenAccess } from "./forbidden-message.ts";
import type { ApiRequest } from "../request.ts";
import { NAMESPACES } from "./request-path.ts";

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

/** The namespace attribute of a namespace is its own name, so that a role in the namespace can grant reading it. */
function namespaceOf({ plural, namespace, name }: ApiRequest): string {
  return plural === NAMESPACES && namespace === "" ? name : namespace;
}

/** A list or watch restricted to one name is authorized as access to that object, so permission for it suffices. */
function nameOf({ verb, name, options: { fieldSelector = "" } }: ApiRequest): string {
  return name === "" && (verb === "list" || verb === "watch") ? chosenName(fieldSelector) : name;
}

/** The only name that a field selector matches; "" if it matches more. */
export function chosenName(fieldSelector: string): string {
  if (!fieldSelector.includes("metadata.name")) return "";
  try {
    const chosen = parseFieldSelector(fieldSelector).exactValue("metadata.name") ?? "";
    return validatePathSegmentName(chosen).length === 0 ? chosen : "";
  } catch (error) {
    // Invalid selector: reported by the list itself.
    if (error instanceof SelectorError) return "";
    throw error;
  }
}

/** Some requests need two permissions: a PUT that creates also needs "create". Throws Forbidden if the user lacks it. */
export function mustBeAllowed(authorizer: Authorizer, request: ApiRequest, verb: string): void {
  mustHaveAccess(authorizer, accessOf(request, verb));
}

/** Returns the decision that allows it. Throws Forbidden. */
export function mustHaveAccess(authorizer: Authorizer, access: AccessAttributes): AccessDecision {
  const decision = authorizer.authorize(access);
  if (!decision.allowed) throw forbiddenAccess(access, decision.reason ?? "");
  return decision;
}
