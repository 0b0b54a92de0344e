/** The text editor with the problems of its text by line. */
import { h, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { readDocuments, type LineProblem } from "../../data/editor/documents.ts";
import { SchemaSource, validateText } from "../../data/editor/validate.ts";
import type { TextEditor } from "../page/editor.ts";
import type { Context } from "../views/view.ts";

export interface YamlEditorProps {
  readonly context: Context;
  readonly label: string;
  /** Another text replaces that of the editor. */
  readonly text: string;
  changed(text: string): void;
}

/** After the last key: a person who types does not read messages. */
const VALIDATION_MS = 300;
const SHOWN_MAX = 20;

export function YamlEditor({ context, label, text, changed }: YamlEditorProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const editor = useRef<TextEditor | undefined>(undefined);
  const schemas = useRef<SchemaSource | undefined>(undefined);
  const [problems, setProblems] = useState<readonly LineProblem[]>([]);
  const [failure, setFailure] = useState<string | undefined>(undefined);
  schemas.current ??= new SchemaSource(context.api);
  useEffect(() => {
    const host = element.current;
    if (host === null) return undefined;
    const life = new AbortController();
    context.browser.openEditor(host, { label, text, changed }).then(
      (opened) => {
        if (life.signal.aborted) return opened.dispose();
        editor.current = opened;
        opened.focus();
      },
      (error: unknown) => setFailure((error as Error).message),
    );
    return () => {
      life.abort();
      editor.current?.dispose();
      editor.current = undefined;
    };
  }, []);
  useEffect(() => {
    if (editor.current !== undefined && editor.current.text !== text) editor.current.setText(text);
    const life = new AbortController();
    const validate = async () => {
      await context.browser.clock.sleep(VALIDATION_MS, life.signal);
      const found = await validateText(readDocuments(text), context.kinds, schemas.current ?? new SchemaSource(context.api));
      if (life.signal.aborted) return;
      setProblems(found);
      editor.current?.showProblems(found);
    };
    validate().catch(() => undefined);
    return () => life.abort();
  }, [text]);
  return h(
    "div",
    { class: "editor" },
    failure === undefined ? null : h("p", { class: "note error", role: "alert" }, `Cannot open the editor: ${failure}`),
    h("div", { class: "editor-host", ref: element }),
    h(
      "div",
      { class: "editor-problems", role: "status", "aria-label": "Problems" },
      problems.length === 0 ? null : h("p", { class: "count" }, `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`),
      h(
        "ul",
        { class: "pairs" },
        problems
          .slice(0, SHOWN_MAX)
          .map(({ line, message }) =>
            h(
              "li",
              null,
              h("button", { type: "button", class: "problem", onClick: () => editor.current?.goToLine(line) }, `Line ${line}: ${message}`),
            ),
          ),
      ),
    ),
  );
}
