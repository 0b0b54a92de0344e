/** What is said to somebody who may not: upstream's sentence, which kubectl shows. */
import { groupResourceOf } from "../api/machinery/object.ts";
import { forbiddenError, StatusError } from "../api/machinery/status-error.ts";
import type { ApiRequest, User } from "./request.ts";

export function describeUser({ name }: User): string {
  return JSON.stringify(name);
}

/** `verb` is what was refused, as authorizers name it. */
export function refusal(request: ApiRequest, verb: string, reason: string): StatusError {
  const { group, plural, subresource, namespace, name, context } = request;
  const what = subresource === "" ? plural : `${plural}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const why = `User ${describeUser(context.user)} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
  return forbiddenError({ group, plural: groupResourceOf("", plural) }, name, reason === "" ? why : `${why}: ${reason}`);
}

/** The same of a path that is no resource. */
export function pathRefusal(user: User, { verb, path, reason }: { readonly verb: string; readonly path: string; readonly reason: string }): StatusError {
  const why = `User ${describeUser(user)} cannot ${verb} path ${JSON.stringify(path)}`;
  return new StatusError("Forbidden", `forbidden: ${reason === "" ? why : `${why}: ${reason}`}`, { details: {} });
}
