/** A table of few rows, which scrolls sideways on narrow screens. */
import { h, type ComponentChildren, type JSX } from "preact";
import { escapeInvisible } from "../../../base/text.ts";

export interface SmallTableProps {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}

export function SmallTable({ title, heads, rows }: SmallTableProps): JSX.Element {
  return h(
    "div",
    { class: "scrolled", tabIndex: 0, role: "region", "aria-label": title },
    h("h2", null, title),
    h(
      "table",
      { class: "small" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            "tr",
            null,
            row.map((cell) => h("td", null, typeof cell === "string" ? escapeInvisible(cell) : cell)),
          ),
        ),
      ),
    ),
  );
}
