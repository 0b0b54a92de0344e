/** What happened, or would happen, to each document. */
import { h, type JSX } from "preact";
import type { DocumentResult } from "../../../data/editor/apply-documents.ts";
import { DiffView } from "../../parts/diff-view.ts";
import { referenceAddress } from "../../parts/links.ts";
import { SmallTable } from "../../parts/small-table.ts";
import type { Context } from "../view.ts";

export interface ResultsProps {
  readonly context: Context;
  readonly results: readonly DocumentResult[];
  readonly isDryRun: boolean;
}

export function Results({ context, results, isDryRun }: ResultsProps): JSX.Element {
  return h(
    "ul",
    { class: "found", "aria-label": "Results" },
    results.map((result, index) => h("li", { key: index }, h(Result, { context, result, isDryRun }))),
  );
}

function Result({
  context,
  result: { name, object, outcome, before, after, error, conflicts },
  isDryRun,
}: {
  readonly context: Context;
  readonly result: DocumentResult;
  readonly isDryRun: boolean;
}): JSX.Element {
  const address = object === undefined || isDryRun ? undefined : referenceAddress(context.kinds, object);
  return h(
    "div",
    { role: "status" },
    address === undefined ? h("strong", null, name) : h("a", { href: `#${address}` }, name),
    ` ${error === undefined ? `${isDryRun ? "would be " : ""}${outcome}` : "failed"}`,
    error === undefined || conflicts.length > 0 ? null : h("p", { class: "note error" }, error.message),
    conflicts.length === 0
      ? null
      : h(SmallTable, {
          title: "Fields that others own",
          heads: ["Field", "Conflict"],
          rows: conflicts.map(({ field, message }) => [field, message]),
        }),
    error === undefined && isDryRun && outcome !== "unchanged"
      ? h(DiffView, { before, after, label: `What would change of ${name}` })
      : null,
  );
}
