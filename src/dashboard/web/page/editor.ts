/**
 * A text editor for YAML (CodeMirror) in an element of the page. Loaded when the first one opens. It is inside of a shadow root, where
 * CodeMirror uses constructed style sheets, which the page's Content-Security-Policy allows.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** A message about a line. */
export interface LineProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  changed(text: string): void;
}

export interface TextEditor {
  readonly text: string;
  setText(text: string): void;
  showProblems(problems: readonly LineProblem[]): void;
  goToLine(line: number): void;
  focus(): void;
  dispose(): void;
}

/** Colours are those of the page (style.css), so that they follow its theme. */
const LOOK = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--code)", height: "100%", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-1px" },
  ".cm-content": { caretColor: "var(--text)", fontFamily: "ui-monospace, monospace" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--code)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "transparent", boxShadow: "inset 0 0 0 1px var(--line)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-selectionMatch": { backgroundColor: "var(--hover) !important" },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-panel input, .cm-panel button": { color: "var(--text)", background: "var(--card)", border: "1px solid var(--line)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "var(--accent)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.string, tags.attributeValue], color: "var(--good)" },
  { tag: [tags.keyword, tags.typeName, tags.labelName], color: "var(--waiting)" },
]);

/**
 * Text that replaces a selection. Left to Chromium, it would keep the selection's style in a `style` attribute, which the page's
 * Content-Security-Policy reports.
 */
const TYPE_OVER_SELECTION = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty || view.composing) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { scrollIntoView: true, userEvent: "input.type" });
    return true;
  },
});

export function openEditor(element: HTMLElement, { label, text, changed }: EditorOptions): TextEditor {
  const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        search({ top: true }),
        indentUnit.of("  "),
        yaml(),
        syntaxHighlighting(COLOURS),
        LOOK,
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        // Escape and then Tab leaves the editor, as CodeMirror documents it.
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap, indentWithTab]),
        TYPE_OVER_SELECTION,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  return editorOf(view);
}

function editorOf(view: EditorView): TextEditor {
  const lineOf = (line: number) => view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
  return {
    get text() {
      return view.state.doc.toString();
    },
    setText: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    showProblems(problems) {
      const diagnostics = problems.map(({ line, message }) => {
        const { from, to, text } = lineOf(line);
        return { from: from + (text.length - text.trimStart().length), to, severity: "error" as const, message };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    goToLine(line) {
      const { from } = lineOf(line);
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
    focus: () => view.focus(),
    dispose: () => view.destroy(),
  };
}
