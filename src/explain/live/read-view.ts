/**
 * Reads the state of a cluster for `k8ts why`: every object of every kind, causes, and decisions of Pods without a node. What the user may
 * not read is noted: of kinds that they may list in the namespace of the question only, those objects are read.
 */
import { groupResourceOf, type KubeObject } from "../../api/machinery/object.ts";
import { apiVersionOf } from "../../api/machinery/object.ts";
import { isReason, isStatusError } from "../../api/machinery/status-error.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { discover } from "../../client/discovery.ts";
import { CAUSES_PATH, DECISIONS_PATH, HISTORY_PATH, type CauseItem, type CauseList, type HistoricalList } from "../explain-api.ts";
import { CAUSES, ClusterView, DECISIONS, type SchedulingDecision, type Seen, type Unread } from "../why/cluster-view.ts";

export interface ReadViewOptions {
  readonly client: Client;
  readonly nowMs: number;
  /** A revision or time: the state as it was. Absent: now. */
  readonly at?: string | undefined;
  /** Read by itself if the user may not list a kind in all namespaces. Absent or "": none. */
  readonly namespace?: string;
}

/** Maximum Pods whose decisions are read: each is a request. */
const DECIDED_PODS_MAX = 50;

/** Every kind that can be listed. */
export async function listableKinds(client: Client): Promise<readonly ResourceKind[]> {
  const { preferred } = await discover(client);
  return preferred.filter(({ verbs, storage }) => verbs.includes("list") && verbs.includes("get") && storage.group !== "metrics.k8s.io");
}

export async function readView({ client, nowMs, at, namespace = "" }: ReadViewOptions): Promise<ClusterView> {
  const unread: Unread[] = [];
  const objects = new Map<string, readonly KubeObject[]>();
  for (const kind of await listableKinds(client)) {
    const resource = groupResourceOf(kind.storage.group, kind.plural);
    // Both groups serve the same events.
    if (resource === "events.events.k8s.io") continue;
    const items = await listOf(client, kind, { resource, at }).catch(async (error: unknown) => {
      const missing = unreadBecause(error, resource);
      const isNarrower = missing.isForbidden && namespace !== "" && kind.scope === "Namespaced";
      const own = isNarrower ? await listOf(client, kind, { resource, at, namespace }).catch(ignoreStatus) : undefined;
      unread.push(own === undefined ? missing : { ...missing, exceptNamespace: namespace });
      return own;
    });
    if (items !== undefined) objects.set(resource, items);
  }
  const causes = await causesOf(client, at).catch((error: unknown) => void unread.push(unreadBecause(error, CAUSES)));
  const decisions = at === undefined ? await decisionsOf(client, objects, unread) : new Map<string, readonly SchedulingDecision[]>();
  return new ClusterView({ objects, causes: causes ?? [], decisions, nowMs: instantOf(at, causes ?? []) ?? nowMs, unread });
}

function unreadBecause(error: unknown, resource: string): Unread {
  if (!isStatusError(error)) throw error;
  return { resource, message: error.message, isForbidden: isReason(error, "Forbidden") };
}

function ignoreStatus(error: unknown): undefined {
  if (!isStatusError(error)) throw error;
  return undefined;
}

/** The time of a state of the past: that of its last recorded write. Undefined: now, or not known. */
function instantOf(at: string | undefined, causes: readonly CauseItem[]): number | undefined {
  if (at === undefined) return undefined;
  const timeMs = isRevision(at) ? Date.parse(causes.at(-1)?.time ?? "") : Date.parse(at);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

function isRevision(at: string): boolean {
  return /^\d+$/.test(at);
}

interface Listed {
  readonly resource: string;
  readonly at: string | undefined;
  readonly namespace?: string;
}

async function listOf(client: Client, kind: ResourceKind, { resource, at, namespace }: Listed): Promise<readonly KubeObject[]> {
  const within = namespace === undefined ? {} : { namespace };
  const items: KubeObject[] = [];
  if (at === undefined) {
    const typeMeta = { apiVersion: apiVersionOf(kind.storage), kind: kind.kind };
    for await (const page of client.pages(kind, within)) items.push(...page.items.map((item) => ({ ...item, ...typeMeta })));
    return items;
  }
  for (let next: string | undefined = ""; next !== undefined;) {
    const query = new URLSearchParams({ resource, at, ...within, ...(next === "" ? {} : { continue: next }) });
    const list: HistoricalList = (await client.document(`${HISTORY_PATH}?${query.toString()}`)) as Seen;
    items.push(...list.items);
    next = list.metadata.continue;
  }
  return items;
}

async function causesOf(client: Client, at: string | undefined): Promise<readonly CauseItem[]> {
  const { items }: CauseList = (await client.document(CAUSES_PATH)) as Seen;
  if (at === undefined) return items;
  const atMs = Date.parse(at);
  return items.filter(({ time, resourceVersion }) =>
    isRevision(at) ? Number(resourceVersion ?? 0) <= Number(at) : Date.parse(time) <= atMs,
  );
}

async function decisionsOf(
  client: Client,
  objects: ReadonlyMap<string, readonly KubeObject[]>,
  unread: Unread[],
): Promise<ReadonlyMap<string, readonly SchedulingDecision[]>> {
  const found = new Map<string, readonly SchedulingDecision[]>();
  const pending = (objects.get("pods") ?? []).filter((pod) => !(pod as Seen).spec?.nodeName);
  const note = (error: unknown) => void unread.push(unreadBecause(error, DECISIONS));
  for (const { metadata } of pending.slice(0, DECIDED_PODS_MAX)) {
    const key = `${metadata.namespace}/${metadata.name}`;
    const answer = await client.document(`${DECISIONS_PATH}?pod=${encodeURIComponent(key)}`).catch(note);
    // The scheduler is another process, or the user may not read decisions: the Pods' conditions have the message.
    if (answer === undefined) break;
    found.set(key, (answer as Seen).items);
  }
  return found;
}
