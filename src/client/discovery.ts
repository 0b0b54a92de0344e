/**
 * API discovery: every kind that a server serves, with its verbs, in upstream's order of preference. Lets a program use kinds that are
 * unknown at compile time. A group that does not respond (an aggregated server that is down) does not hide the others: it is reported.
 */
import type { JsonObject } from "../api/machinery/object.ts";
import { parseApiVersion } from "../api/machinery/object.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { CallOptions, Client, ResourceKind } from "./client.ts";

export interface DiscoveredKind extends ResourceKind {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
}

export interface DiscoveryFailure {
  /** "metrics.k8s.io/v1beta1". */
  readonly groupVersion: string;
  readonly error: unknown;
}

export interface Discovery {
  /** Every kind once, in the version that its group prefers, or else in the first that has it. */
  readonly preferred: readonly DiscoveredKind[];
  /** In every version. */
  readonly all: readonly DiscoveredKind[];
  readonly failures: readonly DiscoveryFailure[];
}

export async function discover(client: Client, options: CallOptions = {}): Promise<Discovery> {
  const groupVersions = await groupVersionsOf(client, options);
  const answers = await Promise.allSettled(groupVersions.map((groupVersion) => discoverVersion(client, groupVersion, options)));
  // An aborted request does not mean that the group is missing.
  options.signal?.throwIfAborted();
  const all = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  // A version that is listed and not found has no kinds: it was removed meanwhile, or an APIService without a Service names it.
  const failures = answers.flatMap((answer, index): readonly DiscoveryFailure[] =>
    answer.status === "fulfilled" || isReason(answer.reason, "NotFound")
      ? []
      : [{ groupVersion: groupVersions[index] as string, error: answer.reason as unknown }],
  );
  return { all, preferred: preferredOf(all), failures };
}

/** The kinds of one version ("apps/v1"). Rejects with NotFound if the server does not have that version. */
export async function discoverVersion(client: Client, groupVersion: string, options: CallOptions = {}): Promise<readonly DiscoveredKind[]> {
  return kindsOf(await client.document(pathOf(groupVersion), options), groupVersion);
}

/** By apiVersion and kind, as in an object. */
export function findKind({ all }: Discovery, apiVersion: string, kind: string): DiscoveredKind | undefined {
  const version = parseApiVersion(apiVersion);
  return all.find((found) => found.kind === kind && found.storage.group === version?.group && found.storage.version === version.version);
}

/** "v1", "apps/v1", …: groups in the server's order, preferred version of each group first. */
async function groupVersionsOf(client: Client, options: CallOptions): Promise<readonly string[]> {
  const [core, groups] = await Promise.all([client.document("/api", options), client.document("/apis", options)]);
  const versions = (core["versions"] ?? []) as readonly string[];
  return [...versions, ...((groups["groups"] ?? []) as readonly unknown[] as readonly GroupDocument[]).flatMap(versionsOf)];
}

interface GroupDocument {
  readonly versions: readonly { readonly groupVersion: string }[];
  readonly preferredVersion?: { readonly groupVersion: string };
}

function versionsOf({ versions, preferredVersion }: GroupDocument): readonly string[] {
  const names = versions.map(({ groupVersion }) => groupVersion);
  const preferred = preferredVersion?.groupVersion;
  return preferred === undefined ? names : [preferred, ...names.filter((name) => name !== preferred)];
}

function pathOf(groupVersion: string): string {
  return groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
}

interface ResourceDocument {
  readonly name: string;
  readonly singularName?: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

function kindsOf(document: JsonObject, groupVersion: string): readonly DiscoveredKind[] {
  const storage = parseApiVersion(groupVersion);
  if (storage === undefined) return [];
  const resources = (document["resources"] ?? []) as readonly unknown[] as readonly ResourceDocument[];
  return resources
    .filter(({ name }) => !name.includes("/")) // A name with a slash is a subresource.
    .map(({ name, singularName = "", kind, namespaced, verbs = [], shortNames = [], categories = [] }) => ({
      kind,
      plural: name,
      singular: singularName,
      scope: namespaced ? "Namespaced" : "Cluster",
      storage,
      verbs,
      shortNames,
      categories,
    }));
}

function preferredOf(all: readonly DiscoveredKind[]): readonly DiscoveredKind[] {
  const first = new Map<string, DiscoveredKind>();
  for (const kind of all) {
    const name = `${kind.storage.group}/${kind.plural}`;
    if (!first.has(name)) first.set(name, kind);
  }
  return [...first.values()];
}
