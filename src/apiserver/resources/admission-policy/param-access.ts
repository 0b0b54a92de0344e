/**
 * Policies of admission look at objects of other kinds, their parameters, on behalf of everybody who writes. So that nobody reads by way
 * of a policy what they may not read: who names a kind of parameters must be able to get all of its objects, and who names some of them
 * in a binding must be able to get or list those. What is missing is told as an error of a field, as upstream has it.
 */
import type { ParamKind, ParamRef } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { type AccessedResource, MASTERS } from "../../framework/authorization.ts";
import type { Endpoints } from "../../framework/endpoints.ts";
import type { ApiRequest, User } from "../../framework/request.ts";
import type { ServerContext } from "../../framework/server-context.ts";

type Kind = Pick<AccessedResource, "group" | "version" | "plural">;

/** What is asked about where it is not known which kind is meant. */
const ANYTHING: Kind = { group: "*", version: "*", plural: "*" };

/** Why whoever asks may not name that kind; undefined if they may. */
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
  return `user ${describeWhole(user)} must have "get" permission on ${what}`;
}

export interface NamedParams {
  readonly paramRef: ParamRef;
  readonly policyName: string;
  /** Absent: there is no such policy. */
  readonly policy: { readonly paramKind?: ParamKind } | undefined;
}

/** The same for a binding. `swaps`: upstream's message has two of its words the wrong way round for one kind of policy. */
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
  const who = describeWhole(user);
  const unknown = `to determine minimum required permissions and user ${who} does not have "${verb}" permission for all groups, versions and resources`;
  if (policy === undefined) return `unable to get policy ${policyName} ${unknown}`;
  if (policy.paramKind !== undefined && kind.plural === "*") {
    const { apiVersion = "", kind: paramKind = "" } = policy.paramKind;
    return `unable to resolve paramKind &{${apiVersion} ${paramKind}} ${unknown}`;
  }
  const [first, second] = swaps ? [verb, who] : [who, verb];
  return `user ${first} does not have "${second}" permission on the object referenced by paramRef`;
}

/** The resource, or all of its group and version if there is no such kind. */
function resolved(endpoints: Endpoints, { apiVersion = "", kind = "" }: ParamKind): Kind {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  for (const { served, resource } of endpoints.all()) {
    if (served.group === group && served.version === version && resource.kind === kind) return { group, version, plural: resource.plural };
  }
  return { group, version, plural: "*" };
}

/** As upstream shows a user as a whole: name, uid, groups and everything else. */
function describeWhole({ name, uid = "", groups, extra = {} }: User): string {
  const more = Object.keys(extra).toSorted();
  return `&{${name} ${uid} [${groups.join(" ")}] map[${more.map((key) => `${key}:[${(extra[key] ?? []).join(" ")}]`).join(" ")}]}`;
}
