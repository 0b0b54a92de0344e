/**
 * The permissions of a user as comparable lines: "pods, nodes: get list watch".
 *
 * - Resources are written with group and subresource ("deployments.apps/scale"), optionally followed by an object name; the
 *   latter only where it differs from other objects of the resource. Paths begin with "/".
 * - "*" (for paths "/*") is everything in question; other lines add to it. After the colon "*" is every verb.
 * - No line: no further permissions.
 */
import type { PolicyRule } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import type { Endpoint } from "../../framework/endpoints.ts";

/** Verbs of requests, and special verbs that only authorization checks use. */
export const VERBS: readonly string[] = [
  ...["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
  ...["approve", "attest", "bind", "escalate", "impersonate", "proxy", "sign", "use"],
];
const METHODS = ["get", "head", "options", "post", "put", "patch", "delete"];

/**
 * All subjects of questions: everything that is served, and everything else that rules name, such as permission-only resources ("signers")
 * or resources of other servers. For "*" in rules there is a name that no rule contains.
 */
export function thingsOf(endpoints: Iterable<Endpoint>, rules: readonly PolicyRule[]): readonly string[] {
  const served = [...endpoints].flatMap(({ name: { group, plural }, resource: { subresources } }) =>
    ["", ...Object.keys(subresources)].map((subresource) => resourceOf(group, subresource === "" ? plural : `${plural}/${subresource}`)),
  );
  return [...new Set([...served, ...rules.flatMap(named)])].toSorted();
}

function named({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): readonly string[] {
  const kinds = apiGroups.flatMap((group) =>
    resources.map((resource) => resourceOf(group.replace("*", "example.com"), resource.replace("*", "things"))),
  );
  return [
    ...kinds,
    ...kinds.flatMap((kind) => resourceNames.map((name) => `${kind} ${name}`)),
    ...nonResourceURLs.map((path) => (path === "*" ? "/" : path.replace("*", "any"))),
  ];
}

function resourceOf(group: string, resource: string): string {
  if (group === "") return resource;
  const [plural = "", ...subresource] = resource.split("/");
  return [`${plural}.${group}`, ...subresource].join("/");
}

export interface Deed {
  readonly verb: string;
  readonly thing: string;
}

/** One sorted line per resource or path with any permission. */
export function rightsOf(things: readonly string[], may: (deed: Deed) => boolean): readonly string[] {
  const isPath = (thing: string) => thing.startsWith("/");
  const resources = { all: "*", things: things.filter((thing) => !isPath(thing)), verbs: VERBS };
  const paths = { all: "/*", things: things.filter(isPath), verbs: METHODS };
  return [...linesOf(resources, may), ...linesOf(paths, may)].toSorted();
}

interface Asked {
  readonly all: string;
  readonly things: readonly string[];
  readonly verbs: readonly string[];
}

function linesOf({ all, things, verbs }: Asked, may: (deed: Deed) => boolean): readonly string[] {
  const allowed = new Map(things.map((thing) => [thing, verbs.filter((verb) => may({ verb, thing }))]));
  const always = verbs.filter((verb) => [...allowed.values()].every((some) => some.includes(verb)));
  const written = (some: readonly string[]) => (some.length === verbs.length ? "*" : some.join(" "));
  const besides = (thing: string) => written((allowed.get(thing) ?? []).filter((verb) => !always.includes(verb)));
  const lines = things.flatMap((thing) => {
    const [kind = ""] = thing.split(" ");
    const ofOthers = kind === thing ? "" : besides(kind);
    return besides(thing) === ofOthers ? [] : `${thing}: ${besides(thing) || "nothing"}`;
  });
  return always.length === 0 ? lines : [`${all}: ${written(always)}`, ...lines];
}

/** Splits a text in which resources with equal permissions share a line, separated by commas. */
export function readRights(text: string): readonly string[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines
    .flatMap((line) => {
      const [things = "", verbs] = line.split(": ");
      return things.split(", ").map((thing) => `${thing}: ${verbs}`);
    })
    .toSorted();
}
