/** The difference of two texts by lines. Removed and added lines are marked by signs, too. */
import { h, type JSX } from "preact";
import { lineDiff, type DiffLine } from "../../data/editor/line-diff.ts";

const SIGNS: Readonly<Record<DiffLine["is"], string>> = { same: "  ", removed: "- ", added: "+ ", gap: "" };
const TAGS: Readonly<Record<DiffLine["is"], string>> = { same: "span", removed: "del", added: "ins", gap: "span" };

export function DiffView({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}): JSX.Element {
  const lines = lineDiff(before, after);
  if (lines.length === 0) return h("p", { class: "note", role: "status" }, "Nothing would change.");
  return h(
    "pre",
    { class: "diff", tabIndex: 0, role: "region", "aria-label": label },
    lines.map(({ is, text }) => h(TAGS[is], { class: is }, is === "gap" ? "⋯" : `${SIGNS[is]}${text}`)),
  );
}
