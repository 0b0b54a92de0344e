/**
 * Formats the timeout error of `until`: the condition, then conditions, last events and scheduling decisions of the objects and their Pods,
 * which usually show the reason; the object as JSON last. Not here: the waiting (until.ts).
 */
import { replicaSets } from "../api/apps/v1/replica-set.ts";
import { events } from "../api/core/v1/event.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Event } from "../api/generated/core/v1.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import type { Client } from "../client/client.ts";
import type { Decision } from "../scheduler/decisions.ts";

/** Limits for reading in a terminal: the first objects represent the others. */
const OBJECTS_MAX = 3;
const CONDITIONS_MAX = 12;
const EVENTS_MAX = 10;
/** Length of a message or a function's text. */
const LINE_CHARACTERS_MAX = 240;
/** Length of an object's JSON. */
const JSON_CHARACTERS_MAX = 2_000;

/** The one object that the reference names, or undefined while none exists; all of them if it names a kind. */
export type Seen = KubeObject | undefined | readonly KubeObject[];

export interface UntilFailure {
  /** "Timed out waiting for deployment/web after 90s of virtual time" */
  readonly title: string;
  readonly condition: (seen: never) => unknown;
  readonly seen: Seen;
}

export interface ReportSources {
  readonly client: Client;
  decisions(pod: { readonly namespace: string; readonly name: string }): readonly Decision[];
}

/** Content of the report. */
export interface Circumstances {
  /** The observed objects. */
  readonly objects: readonly KubeObject[];
  /** Their Pods: only conditions that are not true are shown. */
  readonly ownedPods: readonly KubeObject[];
  /** Oldest first. */
  readonly events: readonly Event[];
  readonly decisions: readonly { readonly pod: string; readonly decision: Decision }[];
}

/** Never rejects: what cannot be read is omitted. */
export async function untilReport(failure: UntilFailure, sources: ReportSources): Promise<string> {
  const nothing: Circumstances = { objects: [], ownedPods: [], events: [], decisions: [] };
  return formatUntilFailure(failure, await gather(failure.seen, sources).catch(() => nothing));
}

export function formatUntilFailure({ title, condition, seen }: UntilFailure, circumstances: Circumstances): string {
  const { objects, ownedPods, events: found, decisions } = circumstances;
  const conditions = [
    ...objects.flatMap((object) => conditionsOf(object).map((one) => conditionLine(object, one))),
    ...ownedPods.flatMap((pod) =>
      conditionsOf(pod)
        .filter(({ status }) => status !== "True")
        .map((one) => conditionLine(pod, one)),
    ),
  ];
  const lines = [
    `condition: ${oneLine(condition.name === "" ? condition.toString() : condition.name)}`,
    ...conditions.slice(0, CONDITIONS_MAX),
    ...lastEvents(found).map(eventLine),
    ...decisions.map(
      ({ pod, decision: { outcome, attempt, message } }) =>
        `scheduling decision for ${pod}: ${outcome}, attempt ${attempt}: ${oneLine(message)}`,
    ),
    `last seen: ${jsonText(seen)}`,
  ];
  return [title, ...lines.map((line) => `  ${line}`)].join("\n");
}

async function gather(seen: Seen, { client, decisions }: ReportSources): Promise<Circumstances> {
  const all = Array.isArray(seen) ? (seen as readonly KubeObject[]) : [seen as KubeObject | undefined];
  const objects = all.filter((object) => object !== undefined).slice(0, OBJECTS_MAX);
  const namespaces = new Set(objects.flatMap(({ metadata: { namespace } }) => (namespace === undefined ? [] : [namespace])));
  const ownedPods: KubeObject[] = [];
  const found: Event[] = [];
  for (const namespace of namespaces) {
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    for (const kind of [replicaSets, pods]) {
      const owned = (await client.list<KubeObject>(kind, { namespace })).items.filter((object) => isOwnedBy(object, uids));
      for (const { metadata } of owned) uids.add(metadata.uid);
      if (kind === pods) ownedPods.push(...owned.slice(0, OBJECTS_MAX));
    }
    found.push(...(await client.list(events, { namespace })).items.filter(({ involvedObject }) => uids.has(involvedObject.uid)));
  }
  const decided = [...objects, ...ownedPods].flatMap(({ kind, metadata: { namespace = "", name } }) =>
    (kind === "Pod" ? decisions({ namespace, name }).slice(-1) : []).map((decision) => ({ pod: `${namespace}/${name}`, decision })),
  );
  const sorted = found.toSorted((a, b) => revisionOf(a) - revisionOf(b));
  return { objects, ownedPods, events: sorted, decisions: decided };
}

function isOwnedBy({ metadata }: KubeObject, uids: ReadonlySet<string | undefined>): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uids.has(uid)) === true;
}

/** Warnings first if there are too many: they usually show the reason. */
function lastEvents(found: readonly Event[]): readonly Event[] {
  const warnings = found.filter(({ type }) => type === "Warning").slice(-EVENTS_MAX);
  const others = found.filter(({ type }) => type !== "Warning");
  const kept = new Set([...warnings, ...others.slice(Math.max(0, others.length - EVENTS_MAX + warnings.length))]);
  return found.filter((event) => kept.has(event));
}

/** Time of the last write: a repeated event is updated. */
function revisionOf({ metadata }: Event): number {
  return Number(metadata.resourceVersion ?? 0);
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

function conditionsOf({ status }: KubeObject & { readonly status?: unknown }): readonly Condition[] {
  const { conditions } = (status ?? {}) as { readonly conditions?: unknown };
  return Array.isArray(conditions) ? (conditions as readonly Condition[]) : [];
}

/** "Pod web-1 Ready=False (ContainersNotReady): containers with unready status: [a]" */
function conditionLine({ kind, metadata }: KubeObject, { type, status, reason, message }: Condition): string {
  const why = `${reason ? ` (${reason})` : ""}${message ? `: ${oneLine(message)}` : ""}`;
  return `${kind} ${metadata.name} ${type}=${status}${why}`;
}

function eventLine({ type, reason, message, count, involvedObject: { kind, name } }: Event): string {
  const times = count === undefined || count <= 1 ? "" : ` (${count} times)`;
  return `event: ${type ?? ""} ${reason ?? ""} of ${kind} ${name}: ${oneLine(message ?? "")}${times}`;
}

function oneLine(text: string): string {
  return clipped(text.replaceAll(/\s+/g, " ").trim(), LINE_CHARACTERS_MAX);
}

function jsonText(seen: Seen): string {
  return clipped(JSON.stringify(seen) ?? "nothing", JSON_CHARACTERS_MAX);
}

function clipped(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
