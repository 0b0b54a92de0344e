/** `kubectl get`: tables of the API server, YAML and JSON, and watches. */
import { writeYaml } from "../../../api/machinery/codec/yaml/write.ts";
import type { Json, KubeObject } from "../../../api/machinery/object.ts";
import { lineBatches } from "../../../dashboard/data/lines.ts";
import type { Command, CommandContext } from "../command.ts";
import { within } from "../command.ts";
import { ALL_NAMESPACES_FLAG, NAMESPACE_FLAG, parseArguments, SELECTOR_FLAG, UsageError } from "../flags.ts";
import { listPath, objectPath, selectorQuery, shownName, targetsOf, withQuery, type Target } from "../resources.ts";
import { cellsOf, columnWidths, headerCells, rowText, type ServerTable, type TableStyle } from "../text-table.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

const FLAGS = {
  ...NAMESPACE_FLAG,
  ...ALL_NAMESPACES_FLAG,
  ...SELECTOR_FLAG,
  output: { short: "o" },
  watch: { isSwitch: true, short: "w" },
  "output-watch-events": { isSwitch: true },
  "show-labels": { isSwitch: true },
  "show-managed-fields": { isSwitch: true },
  "field-selector": {},
  "no-headers": { isSwitch: true },
  raw: {},
} as const;

const FORMATS = ["", "wide", "yaml", "json", "name"];

type Flags = Readonly<Record<string, string>>;

export const get: Command = {
  name: ["get"],
  usage: "TYPE [NAME] [-o wide|yaml|json|name] [-w] [-l SELECTOR] [-n NAMESPACE] [-A]",
  summary: "Show one or many objects",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, FLAGS);
    const context = within(given, flags);
    const { raw } = flags;
    if (raw !== undefined) return printRaw(context, raw);
    const format = flags["output"] ?? "";
    if (!FORMATS.includes(format))
      throw new UsageError(
        `unable to match a printer suitable for the output format "${format}", allowed formats are: json,name,wide,yaml`,
      );
    const targets = targetsOf(await context.kinds(), positional);
    if (format === "yaml" || format === "json" || format === "name") await printObjects(context, targets, flags, format);
    else await printTables(context, targets, flags);
    if (flags["watch"] === undefined) return;
    const [target, ...more] = targets;
    if (target === undefined || more.length > 0) throw new UsageError("you may only specify a single resource type");
    await watch(context, target, flags);
  },
};

async function printRaw(context: CommandContext, path: string): Promise<void> {
  const response = await context.api.send({ path, signal: context.signal });
  context.out(new TextDecoder().decode(await response.bytes()).trimEnd());
}

function pathOfTarget(context: CommandContext, { kind, name }: Target, flags: Flags): string {
  if (name !== undefined) return objectPath({ kind, name }, context);
  return withQuery(listPath(kind, context, flags["all-namespaces"] !== undefined), selectorQuery(flags));
}

async function printObjects(context: CommandContext, targets: readonly Target[], flags: Flags, format: string): Promise<void> {
  const objects: KubeObject[] = [];
  for (const target of targets) {
    const found = await context.api.get<KubeObject & { readonly items?: readonly KubeObject[] }>(
      pathOfTarget(context, target, flags),
      context.signal,
    );
    const items = target.name === undefined ? (found.items ?? []) : [found];
    const typeMeta = { apiVersion: apiVersionOf(target), kind: target.kind.kind };
    for (const item of items) objects.push({ ...typeMeta, ...item });
    if (format === "name") for (const item of items) context.out(shownName({ kind: target.kind, name: item.metadata.name }));
  }
  if (format === "name") return;
  const isOne = targets.length === 1 && targets[0]?.name !== undefined;
  const shown = objects.map((object) => (flags["show-managed-fields"] === undefined ? withoutManagedFields(object) : object));
  const value = isOne ? shown[0] : { apiVersion: "v1", items: shown, kind: "List", metadata: { resourceVersion: "" } };
  context.out(valueText(value as Json, format));
}

function apiVersionOf({ kind: { group, version } }: Target): string {
  return group === "" ? version : `${group}/${version}`;
}

export function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _fields, ...metadata } = object.metadata as KubeObject["metadata"] & { readonly managedFields?: unknown };
  return { ...object, metadata };
}

function valueText(value: Json, format: string): string {
  return format === "json" ? JSON.stringify(value, undefined, 4) : writeYaml(value).trimEnd();
}

function styleOf(target: Target, targets: readonly Target[], flags: Flags): TableStyle {
  return {
    isWide: flags["output"] === "wide",
    withNamespace: flags["all-namespaces"] !== undefined && target.kind.isNamespaced,
    withLabels: flags["show-labels"] !== undefined,
    namePrefix: new Set(targets.map(({ kind }) => kind)).size > 1 ? shownName({ kind: target.kind, name: "" }) : "",
  };
}

async function fetchTable(context: CommandContext, target: Target, flags: Flags): Promise<ServerTable> {
  return context.api.json<ServerTable>({ path: pathOfTarget(context, target, flags), accept: TABLE, signal: context.signal });
}

async function printTables(context: CommandContext, targets: readonly Target[], flags: Flags): Promise<void> {
  let isFirst = true;
  for (const group of groupsOf(targets)) {
    const [target] = group;
    if (target === undefined) continue;
    const tables = [];
    for (const one of group) tables.push(await fetchTable(context, one, flags));
    const [table] = tables;
    const rows = tables.flatMap((each) => each.rows ?? []);
    if (table === undefined || rows.length === 0) continue;
    if (!isFirst) context.out("");
    isFirst = false;
    const style = styleOf(target, targets, flags);
    const lines = [
      ...(flags["no-headers"] === undefined ? [headerCells(table, style)] : []),
      ...rows.map((row) => cellsOf(row, table.columnDefinitions, style)),
    ];
    const widths = columnWidths(lines);
    for (const line of lines) context.out(rowText(line, widths));
  }
  if (isFirst && flags["watch"] === undefined) context.warn(noneFound(context, targets, flags));
}

/** Objects of one kind are one table. */
function groupsOf(targets: readonly Target[]): readonly (readonly Target[])[] {
  return [...new Set(targets.map(({ kind }) => kind))].map((kind) => targets.filter((target) => target.kind === kind));
}

function noneFound({ namespace }: CommandContext, targets: readonly Target[], flags: Flags): string {
  const isNamespaced = targets.some(({ kind }) => kind.isNamespaced);
  return isNamespaced && flags["all-namespaces"] === undefined ? `No resources found in ${namespace} namespace.` : "No resources found";
}

interface WatchLine {
  readonly type: string;
  readonly object: ServerTable & { readonly message?: string };
}

/** From the state that was printed, until Ctrl+C. */
async function watch(context: CommandContext, target: Target, flags: Flags): Promise<void> {
  const { kind, name } = target;
  const path = listPath(kind, context, flags["all-namespaces"] !== undefined);
  const query = { ...selectorQuery(flags), ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }) };
  const table = await context.api.json<ServerTable>({ path: withQuery(path, query), accept: TABLE, signal: context.signal });
  const since = table.metadata?.resourceVersion ?? "";
  const watchPath = withQuery(path, { ...query, watch: "1", resourceVersion: since });
  const response = await context.api.send({ path: watchPath, accept: TABLE, signal: context.signal });
  const style = styleOf(target, [target], flags);
  const withEvents = flags["output-watch-events"] !== undefined;
  let columns = table.columnDefinitions;
  const widths = columnWidths([headerCells(table, style), ...(table.rows ?? []).map((row) => cellsOf(row, columns, style))]);
  for await (const lines of lineBatches(response.pieces())) {
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as WatchLine;
      if (type === "ERROR") throw new Error(object.message ?? "the watch has ended");
      if (type === "BOOKMARK") continue;
      columns = object.columnDefinitions ?? columns;
      for (const row of object.rows ?? [])
        context.out(`${withEvents ? type.padEnd(11) : ""}${rowText(cellsOf(row, columns, style), widths)}`);
    }
  }
}
