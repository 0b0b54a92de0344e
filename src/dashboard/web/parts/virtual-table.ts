/**
 * A table of which only the visible rows are elements: 100,000 rows scroll like 100. Keyboard: one row has the focus, arrows, Page Up, Page
 * Down, Home and End move it, Enter opens it. Screen readers get the number of all rows and the position of each.
 */
import { h, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { escapeControls } from "../../../base/text.ts";
import type { Browser } from "../page/browser.ts";

/** As in style.css. */
const ROW_HEIGHT = 32;
/** Rows beyond the visible ones: enough for one frame of fast scrolling. */
const MARGIN = 8;

export interface TableColumn {
  readonly title: string;
  /** Share of the width. */
  readonly weight: number;
  /** Hidden on narrow screens. */
  readonly isSecondary?: boolean;
}

export interface VirtualTableProps<Item> {
  readonly browser: Browser;
  readonly label: string;
  readonly columns: readonly TableColumn[];
  readonly items: readonly Item[];
  readonly sort?: { readonly column: number; readonly isDescending: boolean } | undefined;
  onSort(column: number): void;
  keyOf(item: Item): string;
  cellsOf(item: Item): readonly (JSX.Element | string)[];
  addressOf(item: Item): string;
  classOf?(item: Item): string;
}

export function VirtualTable<Item>(props: VirtualTableProps<Item>): JSX.Element {
  const { browser, items, columns, label } = props;
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  const [focused, setFocused] = useState(0);
  useEffect(() => (body.current === null ? undefined : browser.observeHeight(body.current, setHeight)), [browser]);
  const current = Math.min(focused, Math.max(0, items.length - 1));
  const move = (to: number) => {
    const next = Math.max(0, Math.min(items.length - 1, to));
    setFocused(next);
    revealRow(body.current, next);
  };
  const keyDown = (event: KeyboardEvent) => {
    const item = items[current];
    const to = rowAfterKey(event.key, { current, count: items.length, page: Math.max(1, Math.floor(height / ROW_HEIGHT) - 1) });
    if (event.key === "Enter" && item !== undefined) browser.address.go(props.addressOf(item));
    else if (to === undefined) return;
    else move(to);
    event.preventDefault();
  };
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - MARGIN);
  const last = Math.min(items.length, Math.ceil((top + height) / ROW_HEIGHT) + MARGIN);
  return h(
    "div",
    { class: "table", role: "grid", "aria-label": label, "aria-rowcount": items.length + 1, "aria-colcount": columns.length },
    h(HeadRow, { columns, sort: props.sort, onSort: props.onSort }),
    h(
      "div",
      {
        class: "rows",
        ref: body,
        role: "rowgroup",
        tabIndex: -1,
        onScroll: () => setTop(body.current?.scrollTop ?? 0),
        onKeyDown: keyDown,
      },
      h(
        "div",
        { class: "all-rows", role: "presentation", style: { height: `${items.length * ROW_HEIGHT}px` } },
        items.slice(first, last).map((item, index) => bodyRow(props, item, { index: first + index, isFocused: first + index === current })),
      ),
    ),
  );
}

function bodyRow<Item>(
  { columns, cellsOf, keyOf, addressOf, classOf, browser }: VirtualTableProps<Item>,
  item: Item,
  { index, isFocused }: { readonly index: number; readonly isFocused: boolean },
): JSX.Element {
  return h(
    "div",
    {
      key: keyOf(item),
      class: `row ${classOf?.(item) ?? ""}`,
      role: "row",
      "aria-rowindex": index + 2,
      "data-row": index,
      tabIndex: isFocused ? 0 : -1,
      style: { transform: `translateY(${index * ROW_HEIGHT}px)` },
      onClick: () => browser.address.go(addressOf(item)),
    },
    cellsOf(item).map((cell, column) =>
      h(
        "div",
        { role: "gridcell", class: cellClass(columns[column]), style: { flexGrow: columns[column]?.weight ?? 1 } },
        typeof cell === "string" ? escapeControls(cell) : cell,
      ),
    ),
  );
}

interface HeadProps {
  readonly columns: readonly TableColumn[];
  readonly sort: VirtualTableProps<unknown>["sort"];
  onSort(column: number): void;
}

function HeadRow({ columns, sort, onSort }: HeadProps): JSX.Element {
  return h(
    "div",
    { role: "rowgroup" },
    h(
      "div",
      { class: "row head", role: "row", "aria-rowindex": 1 },
      columns.map((column, index) => {
        const direction = sort?.column === index ? (sort.isDescending ? "descending" : "ascending") : "none";
        return h(
          "div",
          { role: "columnheader", class: cellClass(column), "aria-sort": direction, style: { flexGrow: column.weight } },
          h("button", { type: "button", class: "sort", onClick: () => onSort(index) }, column.title),
        );
      }),
    ),
  );
}

function cellClass(column: TableColumn | undefined): string {
  return column?.isSecondary === true ? "cell secondary" : "cell";
}

interface Place {
  readonly current: number;
  readonly count: number;
  /** Rows of one screen. */
  readonly page: number;
}

/** Undefined: the key does not move the focus. */
function rowAfterKey(key: string, { current, count, page }: Place): number | undefined {
  switch (key) {
    case "ArrowDown":
      return current + 1;
    case "ArrowUp":
      return current - 1;
    case "PageDown":
      return current + page;
    case "PageUp":
      return current - page;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

/** Scrolls the row into view, and focuses it as soon as it is an element, unless the focus has left the table until then. */
function revealRow(body: HTMLElement | null, index: number): void {
  if (body === null) return;
  const [from, to] = [index * ROW_HEIGHT, (index + 1) * ROW_HEIGHT];
  if (from < body.scrollTop) body.scrollTop = from;
  if (to > body.scrollTop + body.clientHeight) body.scrollTop = to - body.clientHeight;
  requestAnimationFrame(() => {
    const { activeElement, body: page } = document;
    // The page itself: the row that had the focus is no element any more.
    if (activeElement !== page && !body.contains(activeElement)) return;
    body.querySelector<HTMLElement>(`[data-row="${index}"]`)?.focus({ preventScroll: true });
  });
}
