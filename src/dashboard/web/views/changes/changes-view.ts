/** What changed between two instants: every object with its writers, and on request its fields. */
import { h, type JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { changesBetween, type ObjectChange } from "../../../data/time/object-changes.ts";
import { kindOfId } from "../../../data/kinds.ts";
import { useCauses } from "../../parts/causes.ts";
import { FieldDiff } from "../../parts/field-diff.ts";
import { objectAddress } from "../../parts/links.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import type { Context, View, ViewProps } from "../view.ts";

export const changesView: View = { name: "changes", titleOf: () => "Changes", component: ChangesView };

/** More than a person reads: a shorter range or a namespace has fewer. */
const SHOWN_MAX = 500;

function ChangesView({ context, route }: ViewProps): JSX.Element {
  const state = useCauses(context);
  const { from = "0", to = "", ns: namespace = "" } = route.query;
  const newest = useMemo(() => Math.max(0, ...(state?.items ?? []).map(({ resourceVersion = "0" }) => Number(resourceVersion))), [state]);
  const until = to === "" ? (context.at?.revision ?? String(newest)) : to;
  const { changes, isComplete } = useMemo(
    () => changesBetween(state?.items ?? [], { from: Number(from), to: Number(until) }),
    [state, from, until],
  );
  // Without the record nothing is known about changes.
  const isKnown = state !== undefined && (state.error === undefined || state.items.length > 0);
  const shown = changes.filter((change) => namespace === "" || change.namespace === namespace);
  return h(
    "section",
    { class: "changes" },
    h(
      "div",
      { class: "bar" },
      h("h1", null, "Changes"),
      isKnown ? h("span", { class: "count", role: "status" }, `${shown.length} objects changed from revision ${from} to ${until}`) : null,
    ),
    state?.error === undefined ? null : h(ErrorNote, { error: state.error }),
    state === undefined ? h(Waiting, { what: "recorded writes" }) : null,
    isKnown && !isComplete ? h(Empty, { text: "The first writes of this range are no longer recorded." }) : null,
    isKnown && shown.length === 0 ? h(Empty, { text: "Nothing changed. Leases and Events are not compared." }) : null,
    h(
      "ul",
      { class: "change-list" },
      shown
        .slice(0, SHOWN_MAX)
        .map((change) =>
          h(Change, { key: `${change.resource} ${change.namespace}/${change.name}`, context, change, range: { from, to: until } }),
        ),
    ),
    shown.length > SHOWN_MAX ? h(Empty, { text: `Only the first ${SHOWN_MAX} are shown: choose a namespace or a shorter range.` }) : null,
  );
}

interface ChangeProps {
  readonly context: Context;
  readonly change: ObjectChange;
  readonly range: { readonly from: string; readonly to: string };
}

function Change({ context, change, range }: ChangeProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { resource, namespace, name, means, writes, writers } = change;
  const kind = kindOfId(context.kinds, resource);
  return h(
    "li",
    null,
    h(
      "div",
      { class: "change" },
      h(
        "button",
        { type: "button", "aria-expanded": isOpen, "aria-label": `Fields of ${resource} ${name}`, onClick: () => setOpen(!isOpen) },
        isOpen ? "−" : "+",
      ),
      h("span", { class: `means ${means.split(" ").at(-1) ?? ""}` }, means),
      kind === undefined ? name : h("a", { href: `#${objectAddress(kind, { namespace, name })}` }, name),
      h("span", { class: "count" }, `${resource}${namespace === "" ? "" : ` in ${namespace}`}`),
      h("span", { class: "count" }, `${writes === 1 ? "1 write" : `${writes} writes`} by ${writers.join(", ")}`),
    ),
    isOpen ? h(FieldDiff, { context, of: { resource, namespace, name, ...range } }) : null,
  );
}
