/** The frame around every view: search, namespace, theme, user, menu. */
import { h, type JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { findKind, kindId, pathOf } from "../../data/kinds.ts";
import type { Instant } from "../../data/time/past-connection.ts";
import { Boundary } from "../parts/boundary.ts";
import { useAccess } from "../parts/access.ts";
import { listAddress } from "../parts/links.ts";
import { useTable } from "../parts/live.ts";
import { addressOf, type Route } from "../route.ts";
import { all as views } from "../views/all.ts";
import type { Context, View } from "../views/view.ts";
import { menuSections } from "./menu.ts";
import { TimeBar } from "./time-bar.ts";

export interface ShellProps {
  readonly context: Context;
  /** The same at the newest instant, whatever the page shows. */
  readonly live: Context;
  readonly route: Route;
  readonly view: View;
  /** Absent: the page has one user, who cannot log out. */
  readonly leave?: { readonly user: string; readonly title: string; run(): void };
  /** About the data as a whole. */
  readonly notes?: readonly string[];
  readonly openRecording?: () => void;
  readonly fileProblem?: string | undefined;
  goTo(instant: Instant | undefined): void;
}

export function Shell({ context, live, route, view, leave, notes = [], openRecording, fileProblem, goTo }: ShellProps): JSX.Element {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isTimeOpen, setTimeOpen] = useState(false);
  const { at } = context;
  const toggleTime = () => {
    if (isTimeOpen) goTo(undefined);
    setTimeOpen(!isTimeOpen);
  };
  return h(
    "div",
    { class: `shell ${isMenuOpen ? "menu-open" : ""} ${at === undefined ? "" : "in-the-past"}` },
    h("a", { class: "skip", href: "#main", onClick: focusMain }, "Skip to the content"),
    h(
      "header",
      null,
      h(
        "button",
        {
          type: "button",
          class: "menu-button",
          "aria-expanded": isMenuOpen,
          "aria-controls": "menu",
          onClick: () => setMenuOpen(!isMenuOpen),
        },
        "Menu",
      ),
      h("a", { class: "brand", href: `#${addressOf("")}` }, "k8ts"),
      h(SearchField, { context, route }),
      h(NamespaceField, { context, route }),
      h("button", { type: "button", "aria-expanded": isTimeOpen, onClick: toggleTime }, "Time"),
      openRecording === undefined ? null : h("button", { type: "button", class: "open", onClick: openRecording }, "Open"),
      h(ThemeButton, { context }),
      leave === undefined ? null : h("span", { class: "user", title: leave.user }, leave.user),
      leave === undefined ? null : h("button", { type: "button", onClick: () => leave.run() }, leave.title),
      isTimeOpen ? h(TimeBar, { context: live, at, route, goTo }) : null,
      fileProblem === undefined ? null : h("p", { class: "note error", role: "alert" }, fileProblem),
    ),
    h(Menu, { context, route, close: () => setMenuOpen(false) }),
    h(
      "main",
      { id: "main", tabIndex: -1 },
      notes.length === 0 ? null : h(Notes, { notes }),
      h(Boundary, { key: `${route.view}/${route.segments.join("/")}`, children: h(view.component, { context, route }) }),
    ),
  );
}

function Notes({ notes }: { readonly notes: readonly string[] }): JSX.Element {
  return h(
    "details",
    { class: "note" },
    h("summary", null, `This recording is not complete (${notes.length})`),
    h(
      "ul",
      null,
      notes.map((note) => h("li", null, note)),
    ),
  );
}

/** The fragment is the address of a view, so the link cannot move the focus by itself. */
function focusMain(event: MouseEvent): void {
  event.preventDefault();
  const link = event.currentTarget as HTMLElement;
  link.parentElement?.querySelector<HTMLElement>("main")?.focus();
}

function SearchField({ context, route }: { readonly context: Context; readonly route: Route }): JSX.Element {
  const [text, setText] = useState(route.view === "search" ? (route.query["q"] ?? "") : "");
  const submit = (event: Event) => {
    event.preventDefault();
    context.browser.address.go(addressOf("search", [], { q: text, ns: route.query["ns"] }));
  };
  return h(
    "form",
    { role: "search", onSubmit: submit },
    h("input", {
      type: "search",
      placeholder: "Search all objects",
      "aria-label": "Search all objects",
      value: text,
      onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => setText(currentTarget.value),
    }),
  );
}

const LIST_NAMESPACES = [{ verb: "list", resource: "namespaces" }];

/** A list, or a field if the user must not list namespaces. */
function NamespaceField({ context, route }: { readonly context: Context; readonly route: Route }): JSX.Element {
  const kind = findKind(context.kinds, "namespaces");
  const forbidden = useAccess(context, LIST_NAMESPACES);
  const state = useTable(context, kind === undefined || forbidden !== "" ? "" : pathOf(kind));
  const { ns = "" } = route.query;
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    context.setQuery({ ns: currentTarget.value });
  const isFailed = state?.error !== undefined && state.items.size === 0;
  if (isFailed || (forbidden !== undefined && forbidden !== ""))
    return h("input", { class: "namespace", "aria-label": "Namespace", placeholder: "Namespace", value: ns, onChange: choose });
  const names = [...(state?.items.values() ?? [])].map(({ name }) => name).sort();
  return h(
    "select",
    { class: "namespace", "aria-label": "Namespace", value: ns, onChange: choose },
    h("option", { value: "" }, "All namespaces"),
    [...new Set([...names, ...(ns === "" ? [] : [ns])])].map((name) => h("option", { key: name, value: name }, name)),
  );
}

function ThemeButton({ context: { browser } }: { readonly context: Context }): JSX.Element {
  const [theme, setTheme] = useState(browser.theme.read());
  const other = theme === "dark" ? "light" : "dark";
  const change = () => {
    browser.theme.write(other);
    setTheme(other);
  };
  return h("button", { type: "button", onClick: change, "aria-label": `Use ${other} colours` }, other === "dark" ? "Dark" : "Light");
}

function Menu({ context, route, close }: { readonly context: Context; readonly route: Route; close(): void }): JSX.Element {
  const { ns } = route.query;
  const sections = useMemo(() => menuSections(context.kinds), [context.kinds]);
  const link = (title: string, address: string, isCurrent: boolean) =>
    h("li", { key: address }, h("a", { href: `#${address}`, "aria-current": isCurrent ? "page" : undefined, onClick: close }, title));
  return h(
    "nav",
    { id: "menu", "aria-label": "Views and kinds" },
    h(
      "ul",
      null,
      views.flatMap(({ name, menuTitle }) =>
        menuTitle === undefined ? [] : [link(menuTitle, addressOf(name, [], { ns }), route.view === name)],
      ),
    ),
    sections.map(({ title, kinds }) =>
      h(
        "section",
        { key: title },
        h("h2", null, title),
        h(
          "ul",
          null,
          kinds.map((kind) => link(kind.kind, listAddress(kind, { ns }), route.view === "list" && route.segments[0] === kindId(kind))),
        ),
      ),
    ),
  );
}
