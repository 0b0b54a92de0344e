/** The Events about an object, newest first. */
import { h, type JSX } from "preact";
import { escapeInvisible } from "../../../../base/text.ts";
import { findKind, pathOf } from "../../../data/kinds.ts";
import { useTable } from "../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import { statusClass } from "../../parts/status-class.ts";
import type { Tab, TabProps } from "./tab.ts";

export const eventsTab: Tab = { name: "events", title: "Events", isFor: ({ kind }) => kind !== "Event", component: EventsTab };

/** Columns of kubectl that say what happened; the object is that of the page. */
const SHOWN = ["Last Seen", "Type", "Reason", "Message"];

function EventsTab({ context, object }: TabProps): JSX.Element {
  const kind = findKind(context.kinds, "events");
  const { namespace = "", uid = "" } = object.metadata;
  const state = useTable(context, kind === undefined ? "" : pathOf(kind, { namespace }), { fieldSelector: `involvedObject.uid=${uid}` });
  if (state === undefined) return h(Waiting, { what: "events" });
  if (state.error !== undefined) return h(ErrorNote, { error: state.error });
  const rows = [...state.items.values()].sort((a, b) => b.createdMs - a.createdMs);
  if (rows.length === 0) return h(Empty, { text: "There are no events about it. The cluster keeps them for an hour." });
  const columns = SHOWN.map((name) => ({ name, index: state.columns.findIndex((column) => column.name === name) }));
  return h(
    "div",
    { class: "scrolled", tabIndex: 0, role: "region", "aria-label": "Events" },
    h(
      "table",
      { class: "small" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          columns.map(({ name }) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map(({ name: key, cells }) =>
          h(
            "tr",
            { key },
            columns.map(({ name, index }) => {
              const text = String(cells[index] ?? "");
              return h("td", null, name === "Type" ? h("span", { class: statusClass(text) }, text) : escapeInvisible(text));
            }),
          ),
        ),
      ),
    ),
  );
}
