/** Reads the state of a cluster for `k8ts why`: every object of every kind, causes, and decisions of Pods without a node. */
import { groupResourceOf, type KubeObject } from "../../api/machinery/object.ts";
import { apiVersionOf } from "../../api/machinery/object.ts";
import { isStatusError } from "../../api/machinery/status-error.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { discover } from "../../client/discovery.ts";
import { CAUSES_PATH, DECISIONS_PATH, HISTORY_PATH, type CauseItem, type CauseList, type HistoricalList } from "../explain-api.ts";
import { ClusterView, type SchedulingDecision, type Seen } from "../why/cluster-view.ts";

export interface ReadViewOptions {
  readonly client: Client;
  readonly nowMs: number;
  /** A revision or time: the state as it was. Absent: now. */
  readonly at?: string | undefined;
}

/** Maximum Pods whose decisions are read: each is a request. */
const DECIDED_PODS_MAX = 50;

/** Every kind that can be listed. */
export async function listableKinds(client: Client): Promise<readonly ResourceKind[]> {
  const { preferred } = await discover(client);
  return preferred.filter(({ verbs, storage }) => verbs.includes("list") && verbs.includes("get") && storage.group !== "metrics.k8s.io");
}

export async function readView({ client, nowMs, at }: ReadViewOptions): Promise<ClusterView> {
  const unread: string[] = [];
  const objects = new Map<string, readonly KubeObject[]>();
  for (const kind of await listableKinds(client)) {
    const resource = groupResourceOf(kind.storage.group, kind.plural);
    // Both groups serve the same events.
    if (resource === "events.events.k8s.io") continue;
    const items = await listOf(client, kind, resource, at).catch(noteUnread(unread, resource));
    if (items !== undefined) objects.set(resource, items);
  }
  const causes = await causesOf(client, at).catch(noteUnread(unread, "causes"));
  const decisions = at === undefined ? await decisionsOf(client, objects, unread) : new Map<string, readonly SchedulingDecision[]>();
  return new ClusterView({ objects, causes: causes ?? [], decisions, nowMs, unread });
}

function noteUnread(unread: string[], what: string): (error: unknown) => undefined {
  return (error) => {
    if (!isStatusError(error)) throw error;
    unread.push(`${what}: ${error.message}`);
    return undefined;
  };
}

async function listOf(client: Client, kind: ResourceKind, resource: string, at: string | undefined): Promise<readonly KubeObject[]> {
  if (at !== undefined) {
    const query = new URLSearchParams({ resource, at });
    const list: HistoricalList = (await client.document(`${HISTORY_PATH}?${query.toString()}`)) as Seen;
    return list.items;
  }
  const typeMeta = { apiVersion: apiVersionOf(kind.storage), kind: kind.kind };
  const items: KubeObject[] = [];
  for await (const page of client.pages(kind)) items.push(...page.items.map((item) => ({ ...item, ...typeMeta })));
  return items;
}

async function causesOf(client: Client, at: string | undefined): Promise<readonly CauseItem[]> {
  const { items }: CauseList = (await client.document(CAUSES_PATH)) as Seen;
  if (at === undefined) return items;
  const isRevision = /^\d+$/.test(at);
  const atMs = Date.parse(at);
  return items.filter(({ time, resourceVersion }) => (isRevision ? Number(resourceVersion ?? 0) <= Number(at) : Date.parse(time) <= atMs));
}

async function decisionsOf(
  client: Client,
  objects: ReadonlyMap<string, readonly KubeObject[]>,
  unread: string[],
): Promise<ReadonlyMap<string, readonly SchedulingDecision[]>> {
  const found = new Map<string, readonly SchedulingDecision[]>();
  const pending = (objects.get("pods") ?? []).filter((pod) => !(pod as Seen).spec?.nodeName);
  for (const { metadata } of pending.slice(0, DECIDED_PODS_MAX)) {
    const key = `${metadata.namespace}/${metadata.name}`;
    const answer = await client.document(`${DECISIONS_PATH}?pod=${encodeURIComponent(key)}`).catch(noteUnread(unread, "decisions"));
    // The scheduler is another process, or the user may not read decisions: the Pods' conditions have the message.
    if (answer === undefined) break;
    found.set(key, (answer as Seen).items);
  }
  return found;
}
