/** Saves a range of the history as a file that any dashboard opens. */
import { h, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { recordingText, recordRange } from "../../data/recording/record-range.ts";
import type { Instant } from "../../data/time/past-connection.ts";
import type { Context } from "../views/view.ts";

export interface ExportButtonProps {
  readonly context: Context;
  readonly from: Instant;
  readonly to: Instant;
}

type State =
  | { readonly is: "idle" }
  | { readonly is: "recording"; readonly part: number }
  | { readonly is: "failed"; readonly message: string };

export function ExportButton({ context, from, to }: ExportButtonProps): JSX.Element {
  const [state, setState] = useState<State>({ is: "idle" });
  const [hasSecrets, setHasSecrets] = useState(false);
  const life = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => life.current?.abort(), []);
  const start = async () => {
    const own = new AbortController();
    life.current = own;
    setState({ is: "recording", part: 0 });
    try {
      const { api, kinds, browser } = context;
      const progress = (part: number) => setState({ is: "recording", part });
      const recording = await recordRange({ api, kinds, from, to, hasSecrets, signal: own.signal, progress });
      browser.save(`k8ts-${from.revision}-${to.revision}.json`, recordingText(recording));
      setState({ is: "idle" });
    } catch (error) {
      setState(own.signal.aborted ? { is: "idle" } : { is: "failed", message: (error as Error).message });
    }
  };
  if (state.is === "recording")
    return h(
      "span",
      { class: "export" },
      h("progress", { value: state.part, max: 1, "aria-label": "Export" }),
      h("button", { type: "button", onClick: () => life.current?.abort() }, "Cancel"),
    );
  return h(
    "span",
    { class: "export" },
    h("button", { type: "button", onClick: () => void start() }, "Export"),
    h(
      "label",
      { class: "option" },
      h("input", { type: "checkbox", checked: hasSecrets, onChange: () => setHasSecrets(!hasSecrets) }),
      " with Secrets",
    ),
    state.is === "failed" ? h("span", { class: "note error", role: "alert" }, state.message) : null,
  );
}
