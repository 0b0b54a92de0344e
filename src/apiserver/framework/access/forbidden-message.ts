/** The message of a Forbidden error: upstream's sentence, which kubectl shows. */
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { forbiddenError, StatusError } from "../../../api/machinery/status-error.ts";
import type { AccessAttributes, AccessedResource } from "../authorization.ts";
import type { ApiRequest } from "../request.ts";

/** `verb`: the denied verb, as authorizers name it. */
export function refusal(request: ApiRequest, verb: string, reason: string): StatusError {
  return forbiddenAccess({ user: request.context.user, verb, resource: request, path: "" }, reason);
}

/** `reason`: from the authorizer; "" for none. */
export function forbiddenAccess(access: AccessAttributes, reason: string): StatusError {
  const { user, verb, resource, path } = access;
  const what = resource === undefined ? `path ${quoteGo(path)}` : describeResource(resource);
  const why = harmless(`User ${quoteGo(user.name)} cannot ${verb} ${what}`);
  const sentence = reason === "" ? why : `${why}: ${reason}`;
  if (resource === undefined) return new StatusError("Forbidden", `forbidden: ${sentence}`, { details: {} });
  return forbiddenError(resource, resource.name, sentence);
}

function describeResource({ group, plural, subresource, namespace }: AccessedResource): string {
  const what = subresource === "" ? plural : `${plural}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quoteGo(namespace)}`;
  return `resource ${quoteGo(what)} in API group ${quoteGo(group)} ${where}`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes everything that a browser could interpret as HTML. */
function harmless(text: string): string {
  return text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}
