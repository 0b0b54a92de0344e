/** The prompt: output above, one line of input below, with history and completion. */
import { h, type JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { INPUT_HISTORY_MAX, type PromptScreen } from "./prompt-screen.ts";
import type { Texts } from "./texts.ts";

export interface PromptPaneProps {
  readonly screen: PromptScreen;
  readonly texts: Texts;
}

export function PromptPane({ screen, texts }: PromptPaneProps): JSX.Element {
  const [, setVersion] = useState(0);
  const [line, setLine] = useState("");
  const [at, setAt] = useState<number | undefined>(undefined);
  const output = useRef<HTMLDivElement>(null);
  useEffect(() => screen.onChange(() => setVersion((version) => version + 1)), [screen]);
  useLayoutEffect(() => {
    const { current } = output;
    if (current !== null) current.scrollTop = current.scrollHeight;
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setLine("");
    setAt(undefined);
    void screen.enter(line);
  };
  const browse = (direction: -1 | 1) => {
    const { history } = screen;
    const next = Math.max(0, Math.min(history.length, (at ?? history.length) + direction));
    setAt(next);
    setLine(history[next] ?? "");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      browse(event.key === "ArrowUp" ? -1 : 1);
    } else if (event.key === "Tab" && !event.shiftKey && line.trim() !== "") {
      event.preventDefault();
      void screen.complete(line).then(setLine);
    } else if (event.key === "c" && event.ctrlKey && screen.isBusy) {
      event.preventDefault();
      screen.interrupt();
    }
  };
  return h(
    "section",
    { class: "prompt-pane", "aria-label": texts.prompt },
    h(
      "div",
      { class: "prompt-output", ref: output, role: "log", "aria-live": "polite", tabIndex: 0, "aria-label": texts.prompt },
      h("p", { class: "prompt-welcome" }, texts.welcome),
      screen.lines.map(({ id, kind, text }) => h("pre", { key: id, class: kind }, kind === "command" ? `$ ${text}` : text)),
    ),
    h(
      "form",
      { class: "prompt-line", onSubmit: submit },
      h("span", { "aria-hidden": "true" }, screen.isContinued ? ">" : "$"),
      h("input", {
        type: "text",
        "aria-label": texts.prompt,
        autocomplete: "off",
        autocapitalize: "off",
        spellcheck: false,
        maxLength: INPUT_HISTORY_MAX * 100,
        value: line,
        onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => setLine(currentTarget.value),
        onKeyDown,
      }),
      screen.isBusy ? h("button", { type: "button", onClick: () => screen.interrupt() }, texts.stop) : null,
    ),
  );
}
