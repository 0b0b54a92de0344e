/** All objects of one kind, as kubectl's columns, filtered and sorted in the page. Any kind that discovery lists. */
import { h, type JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { humanDuration } from "../../../../api/machinery/duration.ts";
import type { Column, Row, TableState } from "../../../data/live-table.ts";
import { kindOfId, pathOf, type Kind } from "../../../data/kinds.ts";
import { RowOrder, type Order } from "../../../data/row-order.ts";
import { objectAddress } from "../../parts/links.ts";
import { useNow, useTable } from "../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import { statusClass } from "../../parts/status-class.ts";
import { VirtualTable, type TableColumn } from "../../parts/virtual-table.ts";
import type { Route } from "../../route.ts";
import type { Context, View, ViewProps } from "../view.ts";

/** Names and messages are the longest cells. */
const WEIGHTS: Readonly<Record<string, number>> = { Name: 3, Object: 2, Message: 5 };

export const listView: View = {
  name: "list",
  titleOf: ({ segments }) => segments[0] ?? "Objects",
  component: ListView,
};

function ListView({ context, route }: ViewProps): JSX.Element {
  const id = route.segments[0] ?? "";
  const kind = kindOfId(context.kinds, id);
  if (kind === undefined) return h(Empty, { text: `The cluster serves no kind "${id}".` });
  return h(KindList, { key: id, context, route, kind });
}

interface KindListProps {
  readonly context: Context;
  readonly route: Route;
  readonly kind: Kind;
}

/** "Try again" reads the list again. */
function KindList(props: KindListProps): JSX.Element {
  const [attempt, setAttempt] = useState(0);
  return h(KindRows, { key: attempt, ...props, retry: () => setAttempt(attempt + 1) });
}

function KindRows({ context, route, kind, retry }: KindListProps & { retry(): void }): JSX.Element {
  const { ns: namespace = "", q = "" } = route.query;
  const [filter, setFilter] = useState(q);
  // Another address, such as that of the back button.
  useEffect(() => setFilter(q), [q]);
  const state = useTable(context, pathOf(kind, kind.isNamespaced ? { namespace } : {}));
  return h(
    "section",
    { class: "list" },
    h(
      "div",
      { class: "bar" },
      h("h1", null, kind.kind),
      h("span", { class: "count", role: "status" }, countText(state)),
      h("input", {
        type: "search",
        placeholder: "Filter: words, or label=value",
        "aria-label": `Filter ${kind.plural}`,
        value: filter,
        onInput({ currentTarget }: { readonly currentTarget: HTMLInputElement }) {
          // Shown at once: the address follows, and must not undo what was typed meanwhile.
          setFilter(currentTarget.value);
          context.replaceQuery({ q: currentTarget.value });
        },
      }),
    ),
    state?.error === undefined ? null : h(ErrorNote, { error: state.error, retry }),
    state === undefined ? h(Waiting, { what: kind.plural }) : h(Rows, { context, route, kind, state, filter }),
  );
}

function countText(state: TableState | undefined): string {
  if (state === undefined) return "";
  return state.isComplete ? `${state.items.size}` : `${state.items.size} so far`;
}

interface RowsProps {
  readonly context: Context;
  readonly route: Route;
  readonly kind: Kind;
  readonly state: TableState;
  readonly filter: string;
}

function Rows({ context, route, kind, state, filter }: RowsProps): JSX.Element | null {
  const now = useNow(context);
  const order = orderOf(route);
  // A namespace column only if rows of several namespaces are shown.
  const hasNamespaces = kind.isNamespaced && (route.query["ns"] ?? "") === "";
  const shown = state.columns.map((column, index) => ({ column, index })).filter(({ column }) => column.priority === 0);
  const columns = [
    ...(hasNamespaces ? [{ title: "Namespace", weight: 2 }] : []),
    ...shown.map(({ column }, index) => tableColumn(column, index)),
  ];
  const indices = [...(hasNamespaces ? [-1] : []), ...shown.map(({ index }) => index)];
  const ordering = useMemo(() => new RowOrder(), []);
  const rows = useMemo(() => ordering.rowsOf(state, filter, order), [state, filter, order?.column, order?.isDescending]);
  if (rows.length === 0)
    return state.isComplete ? h(Empty, { text: filter === "" ? `There are no ${kind.plural}.` : "Nothing matches the filter." }) : null;
  const sortedBy = order === undefined ? undefined : { column: indices.indexOf(order.column), isDescending: order.isDescending };
  return h(VirtualTable<Row>, {
    browser: context.browser,
    label: kind.kind,
    columns,
    items: rows,
    sort: sortedBy,
    onSort(index) {
      const column = indices[index] ?? 0;
      const isDescending = order?.column === column && !order.isDescending;
      context.replaceQuery({ sort: `${isDescending ? "-" : ""}${column < 0 ? "namespace" : (state.columns[column]?.name ?? "")}` });
    },
    keyOf: ({ key }) => key,
    cellsOf: (row) => indices.map((column) => cell(row, column, { columns: state.columns, now })),
    addressOf: (row) => objectAddress(kind, row),
    classOf: ({ isTerminating }) => (isTerminating ? "terminating" : ""),
  });

  function orderOf({ query }: Route): Order | undefined {
    const { sort = "" } = query;
    const name = sort.replace(/^-/, "");
    if (name === "") return undefined;
    const column = name === "namespace" ? -1 : state.columns.findIndex((candidate) => candidate.name === name);
    return { column, isDescending: sort.startsWith("-") };
  }
}

function tableColumn({ name }: Column, index: number): TableColumn {
  return { title: name, weight: WEIGHTS[name] ?? 1, ...(index > 2 && name !== "Age" ? { isSecondary: true } : {}) };
}

function cell(
  row: Row,
  column: number,
  { columns, now }: { readonly columns: readonly Column[]; readonly now: number },
): JSX.Element | string {
  if (column < 0) return row.namespace;
  const name = columns[column]?.name;
  if (name === "Age") return Number.isNaN(row.createdMs) ? "" : humanDuration(now - row.createdMs);
  const text = String(row.cells[column] ?? "");
  return name === "Status" ? h("span", { class: statusClass(text) }, text) : text;
}
