/**
 * `kubectl describe`: the object's fields as indented lines, in the way kubectl describes kinds that it has no own format for, and the
 * Events about it.
 */
import type { Json, KubeObject } from "../../../api/machinery/object.ts";
import { within, type Command, type CommandContext } from "../command.ts";
import { NAMESPACE_FLAG, parseArguments, SELECTOR_FLAG } from "../flags.ts";
import { chosenTargets, getObject, targetsOf, type Target } from "../resources.ts";
import { tableLines } from "../text-table.ts";

export const describe: Command = {
  name: ["describe"],
  usage: "TYPE NAME | TYPE -l SELECTOR",
  summary: "Show all fields of an object and its Events",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, { ...NAMESPACE_FLAG, ...SELECTOR_FLAG });
    const context = within(given, flags);
    const isNamed = targetsOf(await context.kinds(), positional).every(({ name }) => name !== undefined);
    const targets = await chosenTargets(context, positional, isNamed ? flags : { all: "true", ...flags });
    for (const [index, target] of targets.entries()) {
      if (index > 0) context.out("\n");
      context.out(describeLines(await getObject(context, target)).join("\n"));
      for (const line of await eventLines(context, target)) context.out(line);
    }
  },
};

/** Metadata that kubectl leaves out. */
const HIDDEN = ["managedFields", "selfLink"];

/** Pure. */
export function describeLines({ apiVersion, kind, metadata, ...rest }: KubeObject): readonly string[] {
  const { name, namespace, labels = {}, annotations = {}, ...others } = metadata as Readonly<Record<string, Json | undefined>>;
  const shown = Object.fromEntries(Object.entries(others).filter(([key]) => !HIDDEN.includes(key)));
  return [
    ...field("Name", name ?? ""),
    ...(namespace === undefined ? [] : field("Namespace", namespace)),
    ...pairs("Labels", labels as Record<string, string>),
    ...pairs("Annotations", annotations as Record<string, string>),
    ...field("API Version", apiVersion),
    ...field("Kind", kind),
    ...tree("Metadata", shown, 0),
    ...Object.entries(rest as Record<string, Json>).flatMap(([key, value]) => tree(titleOf(key), value, 0)),
  ];
}

const VALUE_COLUMN = 14;

function field(title: string, value: Json): readonly string[] {
  return [`${`${title}:`.padEnd(VALUE_COLUMN)}${scalarText(value)}`];
}

function pairs(title: string, values: Readonly<Record<string, string>>): readonly string[] {
  const texts = Object.entries(values).map(([key, value]) => (title === "Labels" ? `${key}=${value}` : `${key}: ${value}`));
  if (texts.length === 0) return field(title, "<none>");
  return texts.map((text, index) => `${(index === 0 ? `${title}:` : "").padEnd(VALUE_COLUMN)}${text}`);
}

function tree(title: string, value: Json, depth: number): readonly string[] {
  const indent = "  ".repeat(depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    const items = value.flatMap((item) =>
      isScalar(item) ? [`${indent}  ${scalarText(item)}`] : members(item as Record<string, Json>, depth + 1),
    );
    return [`${indent}${title}:`, ...items];
  }
  if (isScalar(value)) return [`${indent}${title}:  ${scalarText(value)}`];
  const inner = members(value as Record<string, Json>, depth + 1);
  return inner.length === 0 ? [] : [`${indent}${title}:`, ...inner];
}

function members(value: Readonly<Record<string, Json>>, depth: number): readonly string[] {
  return Object.entries(value).flatMap(([key, member]) => tree(titleOf(key), member, depth));
}

function scalarText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isScalar(value: Json): boolean {
  return value === null || typeof value !== "object";
}

/** "podIP" is "Pod IP"; keys that are no field names stay. */
export function titleOf(key: string): string {
  if (!/^[a-z][A-Za-z0-9]*$/.test(key)) return key;
  const words = key.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/([A-Z]+)([A-Z][a-z]{2,})/g, "$1 $2");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface EventObject extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string;
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

async function eventLines(context: CommandContext, target: Required<Target>): Promise<readonly string[]> {
  const { kind, name } = target;
  const namespace = kind.isNamespaced ? context.namespace : "default";
  const fieldSelector = `involvedObject.name=${name},involvedObject.kind=${kind.kind}`;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events?${new URLSearchParams({ fieldSelector }).toString()}`;
  const { items } = await context.api.get<{ readonly items: readonly EventObject[] }>(path, context.signal);
  if (items.length === 0) return ["Events:       <none>"];
  const rows = items
    .map((event) => ({ event, atMs: Date.parse(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "") }))
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ event, atMs }) => [
      `  ${event.type ?? ""}`,
      event.reason ?? "",
      ageText(context.clock.now() - atMs),
      (event.reportingComponent || event.source?.component) ?? "",
      (event.message ?? "").trim(),
    ]);
  return [
    "Events:",
    ...tableLines([["  Type", "Reason", "Age", "From", "Message"], ["  ----", "------", "----", "----", "-------"], ...rows]),
  ];
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** "12s", "5m", "3h", "2d". Pure. */
export function ageText(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < 2 * MINUTE_MS) return `${Math.floor(ms / SECOND_MS)}s`;
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)}h`;
  return `${Math.floor(ms / DAY_MS)}d`;
}
