/** Search over the names of all objects of all kinds. */
import { h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { searchAll, SEARCHED_MAX, type FailedKind, type SearchProgress } from "../../../data/search.ts";
import { objectAddress } from "../../parts/links.ts";
import { Empty } from "../../parts/notes.ts";
import type { View, ViewProps } from "../view.ts";

export const searchView: View = { name: "search", titleOf: () => "Search", component: SearchView };

/** More results than a person reads: a longer text finds fewer. */
const SHOWN_MAX = 500;

function SearchView({ context: { api, kinds }, route }: ViewProps): JSX.Element {
  const text = (route.query["q"] ?? "").trim();
  const { ns: namespace = "" } = route.query;
  const [progress, setProgress] = useState<SearchProgress | undefined>(undefined);
  useEffect(() => {
    setProgress(undefined);
    const life = new AbortController();
    if (text !== "") void searchAll({ api, kinds, text, namespace, signal: life.signal }, setProgress);
    return () => life.abort();
  }, [api, kinds, text, namespace]);
  if (text === "") return h(Empty, { text: "Type a part of a name into the search field." });
  const { found = [], truncated = [], unread = [], failed = [], isDone = false } = progress ?? {};
  return h(
    "section",
    { class: "search" },
    h(
      "div",
      { class: "bar" },
      h("h1", null, `Search: ${text}`),
      h("span", { class: "count", role: "status" }, statusText(found.length, isDone)),
    ),
    truncated.length === 0
      ? null
      : h(Empty, {
          text: `Only the first ${SEARCHED_MAX} names were searched of: ${truncated.map(({ plural }) => plural).join(", ")}. The exact name is found always.`,
        }),
    unread.length === 0
      ? null
      : h(Empty, {
          text: `You may not list ${unread.length} kinds ${namespace === "" ? "in all namespaces: choose one at the top" : `in namespace ${namespace}`}.`,
        }),
    failed.length === 0 ? null : h(FailedKinds, { failed }),
    h(
      "ul",
      { class: "found" },
      found
        .slice(0, SHOWN_MAX)
        .map(({ kind, namespace, name }) =>
          h(
            "li",
            { key: `${kind.group}/${kind.plural}/${namespace}/${name}` },
            h("a", { href: `#${objectAddress(kind, { namespace, name })}` }, name),
            h("span", null, ` ${kind.kind}${namespace === "" ? "" : ` in ${namespace}`}`),
          ),
        ),
    ),
  );
}

function FailedKinds({ failed }: { readonly failed: readonly FailedKind[] }): JSX.Element {
  return h(
    "div",
    { class: "note error" },
    h("p", null, "Not searched, since the server could not list them:"),
    h(
      "ul",
      null,
      failed.map(({ kind, message }) => h("li", { key: `${kind.group}/${kind.plural}` }, `${kind.plural}: ${message}`)),
    ),
  );
}

function statusText(count: number, isDone: boolean): string {
  return isDone ? `${count} found` : `${count} found so far`;
}
