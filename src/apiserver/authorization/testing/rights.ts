/**
 * Everything that somebody may do, as lines that can be read and compared: "pods, nodes: get list watch".
 *
 * - Resources are written with group and subresource ("deployments.apps/scale"), perhaps with the name of an object behind them; the
 *   latter only where it differs from what holds of others of its kind. Paths begin with "/".
 * - "*" (and, of paths, "/*") is everything that is asked about; other lines say what holds besides. Behind the colon it is every verb.
 * - What has no line: nothing may be done with it beyond that.
 */
import type { PolicyRule } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import type { Endpoint } from "../../framework/endpoints.ts";

/** Those of requests, and those by which somebody is asked whether they may: no request has them. */
export const VERBS: readonly string[] = [
  ...["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
  ...["approve", "attest", "bind", "escalate", "impersonate", "proxy", "sign", "use"],
];
const METHODS = ["get", "head", "options", "post", "put", "patch", "delete"];

/**
 * What can be asked about: all that is served, and all that rules name besides, as a right that is no object ("signers") or as something
 * that another server has. Where a rule has a "*" there is something that no rule names.
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

/** A line for each of the things with which something may be done, sorted. */
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

/** The lines of a text in which things of which the same holds share a line, with commas between them. */
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
