/**
 * Creates or changes objects from YAML, several documents at once, by server-side apply: each document is checked by a dry run, its
 * difference is shown, and fields that others own are taken over only if the user says so.
 */
import { h, type JSX } from "preact";
import { useState } from "preact/hooks";
import { readDocuments } from "../../../data/editor/documents.ts";
import { applyDocuments, type DocumentResult } from "../../../data/editor/apply-documents.ts";
import { Button, Checkbox } from "../../parts/form.ts";
import { ErrorNote } from "../../parts/notes.ts";
import { YamlEditor } from "../../parts/yaml-editor.ts";
import type { View, ViewProps } from "../view.ts";
import { Results } from "./results.ts";

export const createView: View = { name: "create", menuTitle: "Create", titleOf: () => "Create", component: CreateView };

const EXAMPLE = `# One or more documents, separated by ---
apiVersion: v1
kind: ConfigMap
metadata:
  name: example
data:
  greeting: hello
`;

function CreateView({ context, route }: ViewProps): JSX.Element {
  const [text, setText] = useState(EXAMPLE);
  const [isForced, setForced] = useState(false);
  const [results, setResults] = useState<{ readonly of: string; readonly isDryRun: boolean; readonly all: readonly DocumentResult[] }>();
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const namespace = route.query["ns"] || "default";
  const run = async (isDryRun: boolean) => {
    setError(undefined);
    setBusy(true);
    try {
      const { documents, problems } = readDocuments(text);
      const [problem] = problems;
      if (problem !== undefined) throw new Error(`Line ${problem.line}: ${problem.message}`);
      if (documents.length === 0) throw new Error("The text has no document");
      const { api, kinds } = context;
      const values = documents.map(({ value }) => value);
      setResults({ of: text, isDryRun, all: await applyDocuments({ api, kinds, values, namespace, isDryRun, isForced }) });
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  };
  const isReviewed = results?.isDryRun === true && results.of === text && results.all.every(({ error: failed }) => failed === undefined);
  const hasConflicts = results?.all.some(({ conflicts }) => conflicts.length > 0) === true;
  return h(
    "section",
    { class: "create" },
    h("div", { class: "bar" }, h("h1", null, "Create"), h("span", { class: "count" }, `Default namespace: ${namespace}`)),
    h(YamlEditor, { context, label: "YAML of new objects", text, changed: setText }),
    error === undefined ? null : h(ErrorNote, { error }),
    results === undefined ? null : h(Results, { context, results: results.all, isDryRun: results.isDryRun }),
    h(
      "div",
      { class: "controls" },
      h(Button, {
        text: "Review",
        ...(isReviewed ? {} : { look: "primary" as const }),
        isDisabled: isBusy,
        press: () => void run(true),
      }),
      h(Button, {
        text: "Apply",
        ...(isReviewed ? { look: "primary" as const } : {}),
        isDisabled: isBusy || !isReviewed,
        press: () => void run(false),
      }),
      hasConflicts || isForced
        ? h(Checkbox, { label: "Take over fields that others own (force)", isChecked: isForced, change: setForced })
        : null,
    ),
  );
}
