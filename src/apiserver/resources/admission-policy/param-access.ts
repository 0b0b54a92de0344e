/**
 * Admission policies read parameter objects on behalf of all writers. To prevent reads through a policy: writing a policy with a paramKind
 * requires permission to get all its objects, and a binding with a paramRef requires permission to get or list those. A missing permission
 * is reported as a field error, as upstream.
 */
import type { ParamKind, ParamRef } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { type AccessedResource, MASTERS } from "../../framework/authorization.ts";
import type { Endpoints } from "../../framework/endpoints.ts";
import type { ApiRequest, User } from "../../framework/request.ts";
import type { ServerContext } from "../../framework/server-context.ts";

type Kind = Pick<AccessedResource, "group" | "version" | "plural">;

/** Checked where the kind cannot be resolved. */
const ANYTHING: Kind = { group: "*", version: "*", plural: "*" };

/** Returns why the user may not name that kind; undefined if they may. */
export function paramKindProblem(
  { authorizer, endpoints }: ServerContext,
  { context }: ApiRequest,
  paramKind: ParamKind,
): string | undefined {
  const { user } = context;
  if (user.groups.includes(MASTERS)) return undefined;
  const { kind = "", apiVersion = "" } = paramKind;
  const resource = { ...resolved(endpoints, paramKind), subresource: "", namespace: "*", name: "*" };
  if (authorizer.authorize({ user, verb: "get", path: "", resource }).allowed) return undefined;
  const what = `all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  return `user ${formatUser(user)} must have "get" permission on ${what}`;
}

export interface NamedParams {
  readonly paramRef: ParamRef;
  readonly policyName: string;
  /** Absent: the policy does not exist. */
  readonly policy: { readonly paramKind?: ParamKind } | undefined;
}

/** The same for a binding. `swaps`: upstream's message has two words swapped for one kind of policy. */
export function paramRefProblem(
  { authorizer, endpoints }: ServerContext,
  { context }: ApiRequest,
  { paramRef, policyName, policy }: NamedParams,
  { swaps }: { readonly swaps: boolean },
): string | undefined {
  const { user } = context;
  if (user.groups.includes(MASTERS)) return undefined;
  const { name = "", namespace = "" } = paramRef;
  const verb = name === "" ? "list" : "get";
  const kind = policy?.paramKind === undefined ? ANYTHING : resolved(endpoints, policy.paramKind);
  if (authorizer.authorize({ user, verb, path: "", resource: { ...kind, subresource: "", namespace, name } }).allowed) return undefined;
  const who = formatUser(user);
  const unknown = `to determine minimum required permissions and user ${who} does not have "${verb}" permission for all groups, versions and resources`;
  if (policy === undefined) return `unable to get policy ${policyName} ${unknown}`;
  if (policy.paramKind !== undefined && kind.plural === "*") {
    const { apiVersion = "", kind: paramKind = "" } = policy.paramKind;
    return `unable to resolve paramKind &{${apiVersion} ${paramKind}} ${unknown}`;
  }
  const [first, second] = swaps ? [verb, who] : [who, verb];
  return `user ${first} does not have "${second}" permission on the object referenced by paramRef`;
}

/** The resource, or all of its group and version if the kind is unknown. */
function resolved(endpoints: Endpoints, { apiVersion = "", kind = "" }: ParamKind): Kind {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  for (const { served, resource } of endpoints.all()) {
    if (served.group === group && served.version === version && resource.kind === kind) return { group, version, plural: resource.plural };
  }
  return { group, version, plural: "*" };
}

/** Formatted like Go's %v of a user: name, uid, groups and extra. */
function formatUser({ name, uid = "", groups, extra = {} }: User): string {
  const more = Object.keys(extra).toSorted();
  return `&{${name} ${uid} [${groups.join(" ")}] map[${more.map((key) => `${key}:[${(extra[key] ?? []).join(" ")}]`).join(" ")}]}`;
}
