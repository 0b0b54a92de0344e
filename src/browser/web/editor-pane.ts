/** The editor: files of the prompt as YAML, applied to the cluster with the prompt's own command. */
import { h, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { TextEditor } from "../../dashboard/web/page/editor.ts";
import type { PromptScreen } from "./prompt-screen.ts";
import type { RunningTab } from "./running-tab.ts";
import type { Texts } from "./texts.ts";

export interface EditorPaneProps {
  readonly tab: RunningTab;
  readonly screen: PromptScreen;
  readonly texts: Texts;
  /** The file that is open. */
  readonly file: string;
  open(file: string): void;
}

export const FIRST_FILE = "manifest.yaml";

const EXAMPLE = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: nginx
          image: nginx:1.27
`;

export function EditorPane({ tab, screen, texts, file, open }: EditorPaneProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const editor = useRef<TextEditor | undefined>(undefined);
  const [count, setCount] = useState(1);
  const { files } = tab.prompt;
  if (!files.has(FIRST_FILE)) files.set(FIRST_FILE, EXAMPLE);
  useEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    let isOver = false;
    const changed = (text: string) => void files.set(file, text);
    const text = files.get(file) ?? "";
    void tab.browser.openEditor(current, { label: file, text, changed }).then((opened) => {
      if (isOver) return opened.dispose();
      editor.current = opened;
      return undefined;
    });
    return () => {
      isOver = true;
      editor.current?.dispose();
      editor.current = undefined;
    };
  }, [tab, file]);
  const apply = (flags: string) => void screen.enterAll(`kubectl apply -f ${file}${flags}`);
  const create = () => {
    const name = `file-${count}.yaml`;
    setCount(count + 1);
    files.set(name, "");
    open(name);
  };
  return h(
    "section",
    { class: "editor-pane", "aria-label": texts.editor },
    h(
      "div",
      { class: "editor-bar" },
      h(
        "select",
        {
          "aria-label": texts.file,
          value: file,
          onChange: ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => open(currentTarget.value),
        },
        [...files.keys()].map((name) => h("option", { key: name, value: name }, name)),
      ),
      h("button", { type: "button", onClick: create }, texts.newFile),
      h("button", { type: "button", onClick: () => apply(" --dry-run=server") }, texts.dryRun),
      h("button", { type: "button", class: "primary", onClick: () => apply("") }, texts.apply),
    ),
    h("div", { class: "editor-text", ref: element, key: `${tab.id} ${file}` }),
  );
}
