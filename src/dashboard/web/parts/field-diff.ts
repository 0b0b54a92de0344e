/** The changed fields of an object between two revisions, with the writer of each, as the explain API reports them. */
import { h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { writeVisibleYaml } from "../../../api/machinery/codec/yaml/write.ts";
import { isObject, type Json } from "../../../api/machinery/object.ts";
import { DIFF_PATH, type FieldChange, type ObjectDiff } from "../../../explain/explain-api.ts";
import { writerOf } from "../../data/time/object-changes.ts";
import type { Context } from "../views/view.ts";
import { Empty, ErrorNote, Waiting } from "./notes.ts";

export interface DiffOf {
  /** "deployments.apps". */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** A page shows so many: the others are mostly parts of the same value. */
const SHOWN_MAX = 200;

export function FieldDiff({ context: { api }, of }: { readonly context: Context; readonly of: DiffOf }): JSX.Element {
  const [state, setState] = useState<ObjectDiff | Error | undefined>(undefined);
  const { resource, namespace, name, from, to } = of;
  useEffect(() => {
    const life = new AbortController();
    const query = new URLSearchParams({ resource, name, from, to, ...(namespace === "" ? {} : { namespace }) });
    setState(undefined);
    api.get<ObjectDiff>(`${DIFF_PATH}?${query.toString()}`, life.signal).then(setState, (error: unknown) => {
      if (!life.signal.aborted) setState(error as Error);
    });
    return () => life.abort();
  }, [api, resource, namespace, name, from, to]);
  if (state === undefined) return h(Waiting, { what: "the changes" });
  if (state instanceof Error) return h(ErrorNote, { error: state });
  if (state.changes.length === 0) return h(Empty, { text: "No field changed." });
  return h(
    "div",
    { class: "field-diff", tabIndex: 0, role: "region", "aria-label": "Changed fields" },
    state.changes.slice(0, SHOWN_MAX).map((change) => h(Change, { key: change.path.join("/"), change })),
    state.changes.length > SHOWN_MAX ? h(Empty, { text: `And ${state.changes.length - SHOWN_MAX} more fields.` }) : null,
  );
}

function Change({ change: { path, before, after, managers, write } }: { readonly change: FieldChange }): JSX.Element {
  const writers = managers?.map(({ manager }) => manager).join(", ");
  const by = [
    ...(write === undefined ? [] : [`written by ${writerOf(write)} at revision ${write.resourceVersion ?? ""}`]),
    ...(writers === undefined || writers === "" ? [] : [`field manager: ${writers}`]),
  ];
  return h(
    "div",
    { class: "field" },
    h("div", { class: "path" }, path.length === 0 ? "the whole object" : pathText(path)),
    before === undefined ? null : h("pre", { class: "before" }, h("span", { class: "sign" }, "− "), valueText(before)),
    after === undefined ? null : h("pre", { class: "after" }, h("span", { class: "sign" }, "+ "), valueText(after)),
    by.length === 0 ? null : h("div", { class: "by" }, by.join("; ")),
  );
}

/** "spec.containers[0].image". */
function pathText(path: readonly (string | number)[]): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}

function valueText(value: Json): string {
  if (typeof value !== "object" || value === null) return String(value);
  return writeVisibleYaml(withoutBookkeeping(value)).trimEnd();
}

/** Managed fields are longer than the object, and shown as the writers. */
function withoutBookkeeping(value: Json): Json {
  if (!isObject(value) || !isObject(value["metadata"])) return value;
  const { managedFields: _managed, ...metadata } = value["metadata"];
  return { ...value, metadata };
}
