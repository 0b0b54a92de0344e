/**
 * The impersonation modes, as upstream. The four constrained modes need two permissions: to be that user ("impersonate:<mode>", on the
 * parts of its identity), and to do this operation while impersonating ("impersonate-on:<mode>:<verb>", on the request's resource). The
 * legacy mode ("impersonate") needs only the first, and is the only mode for some users: a node or service account with custom groups, and
 * members of system:masters.
 */
import { describeFieldError } from "../../api/machinery/field-error.ts";
import { validateDnsSubdomain, validateDomainPrefixedPath } from "../../api/machinery/names.ts";
import type { StatusError } from "../../api/machinery/status-error.ts";
import { type AccessAttributes, type AccessedResource, MASTERS } from "../framework/authorization.ts";
import { forbiddenAccess } from "../framework/access/forbidden-message.ts";
import type { User } from "../framework/request.ts";
import { isOnNode, serviceAccountOf } from "../shared/service-account-identity.ts";
import type { WantedUser } from "./impersonation-headers.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

export interface ImpersonationMode {
  /** The mode in verbs; "" for the legacy one. */
  readonly name: string;
  /** True if the mode applies to this requestor and user. */
  appliesTo(wanted: WantedUser, requestor: User): boolean;
}

/** Checks a permission of the requestor. Returns the rejection if it is missing. */
export type AccessCheck = (verb: string, resource: AccessedResource) => StatusError | undefined;

/** In the order in which they are tried. */
export const impersonationModes: readonly ImpersonationMode[] = [
  {
    name: "associated-node",
    appliesTo: (wanted, requestor) => hasOnlyName(wanted) && isOnNode(requestor, nodeNameOf(wanted.name) ?? ""),
  },
  { name: "arbitrary-node", appliesTo: (wanted) => hasOnlyName(wanted) && nodeNameOf(wanted.name) !== undefined },
  { name: "serviceaccount", appliesTo: (wanted) => hasOnlyName(wanted) && serviceAccountOf(wanted.name) !== undefined },
  {
    name: "user-info",
    appliesTo: ({ name }) => nodeNameOf(name) === undefined && serviceAccountOf(name) === undefined,
  },
  { name: "", appliesTo: () => true },
];

const AUTHENTICATION_GROUP = "authentication.k8s.io";

/** From this number on, one check for all groups precedes the checks per group. */
const MANY = 4;

/** Returns why the requestor may not be this user in this mode. */
export function modeRefusal(
  { name: mode }: ImpersonationMode,
  wanted: WantedUser,
  requestor: User,
  check: AccessCheck,
): StatusError | undefined {
  const verb = mode === "" ? "impersonate" : `impersonate:${mode}`;
  const question: Question = { isNarrow: mode !== "", verb, requestor, check };
  return (
    check(verb, nameResource(question, wanted.name)) ??
    (wanted.uid === "" ? undefined : check(verb, { ...resource("uids"), name: wanted.uid })) ??
    groupsRefusal(question, wanted.groups) ??
    extraRefusal(question, wanted.extra)
  );
}

interface Question {
  readonly isNarrow: boolean;
  readonly verb: string;
  readonly requestor: User;
  readonly check: AccessCheck;
}

function nameResource({ isNarrow }: Question, name: string): AccessedResource {
  const group = isNarrow ? AUTHENTICATION_GROUP : "";
  const node = isNarrow ? nodeNameOf(name) : undefined;
  if (node !== undefined) return { ...resource("nodes"), group, name: node };
  const account = serviceAccountOf(name);
  if (account !== undefined) return { ...resource("serviceaccounts"), group, ...account };
  return { ...resource("users"), group, name };
}

function groupsRefusal({ isNarrow, verb, requestor, check }: Question, groups: readonly string[]): StatusError | undefined {
  const all = { ...resource("groups"), group: isNarrow ? AUTHENTICATION_GROUP : "" };
  if (isNarrow) {
    const refuse = (name: string, reason: string) =>
      forbiddenAccess({ user: requestor, verb, resource: { ...all, name }, path: "" }, reason);
    if (groups.includes("")) return refuse("", "impersonating the empty string group is not allowed");
    if (groups.includes(MASTERS)) return refuse(MASTERS, "impersonating the system:masters group is not allowed");
    if (groups.length >= MANY && check(verb, { ...all, name: "*" }) === undefined) return undefined;
  }
  return firstRefusal(groups, (name) => check(verb, { ...all, name }));
}

function extraRefusal({ isNarrow, verb, requestor, check }: Question, extra: WantedUser["extra"]): StatusError | undefined {
  const all = resource("userextras");
  const pairs = [...extra].flatMap(([subresource, values]) => values.map((name) => ({ subresource, name })));
  if (isNarrow) {
    const wrong = wrongWithExtra(extra);
    if (wrong !== undefined) return forbiddenAccess({ user: requestor, verb, resource: all, path: "" }, wrong);
    if (pairs.length >= MANY && check(verb, { ...all, subresource: "*", name: "*" }) === undefined) return undefined;
  }
  return firstRefusal(pairs, (pair) => check(verb, { ...all, ...pair }));
}

function wrongWithExtra(extra: WantedUser["extra"]): string | undefined {
  for (const [key, values] of extra) {
    if (key === "") return "impersonating the empty string key in extra is not allowed";
    const wrong = validateDomainPrefixedPath(key, "extra.key").map(describeFieldError);
    if (wrong.length > 0) return `impersonating an invalid key in extra is not allowed: ${joinedErrors(wrong)}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
    if (values.includes("")) return "impersonating the empty string value in extra is not allowed";
  }
  return undefined;
}

function firstRefusal<T>(questions: readonly T[], check: (question: T) => StatusError | undefined): StatusError | undefined {
  for (const question of questions) {
    const refusal = check(question);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function resource(plural: string): AccessedResource {
  return { group: AUTHENTICATION_GROUP, version: "v1", plural, subresource: "", namespace: "", name: "" };
}

/** Returns the permission that the request itself needs in a constrained mode. */
export function impersonateOn({ name: mode }: ImpersonationMode, access: AccessAttributes): AccessAttributes {
  return { ...access, verb: `impersonate-on:${mode}:${access.verb}` };
}

/** Returns the groups of the impersonated user: the requested ones, or the implied ones of its kind. */
export function groupsOf({ name: mode }: ImpersonationMode, { name, groups }: WantedUser): readonly string[] {
  if (groups.length > 0) return groups;
  if (mode !== "" && nodeNameOf(name) !== undefined) return ["system:nodes"];
  const account = serviceAccountOf(name);
  return account === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`];
}

function hasOnlyName({ uid, groups, extra }: WantedUser): boolean {
  return uid === "" && groups.length === 0 && extra.size === 0;
}

const NODE_PREFIX = "system:node:";

function nodeNameOf(user: string): string | undefined {
  if (!user.startsWith(NODE_PREFIX)) return undefined;
  const name = user.slice(NODE_PREFIX.length);
  return validateDnsSubdomain(name).length === 0 ? name : undefined;
}
