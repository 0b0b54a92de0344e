/** The lines of logs with search, timestamps and download. */
import { h, type JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { plainText } from "../../../../data/logs/ansi.ts";
import { lineMatches, searchPattern } from "../../../../data/logs/find-text.ts";
import type { LogLine } from "../../../../data/logs/log-buffer.ts";
import { sourceName, type LogState } from "../../../../data/logs/log-set.ts";
import { logPath, type LogSource } from "../../../../data/logs/log-stream.ts";
import { Button, Checkbox } from "../../../parts/form.ts";
import type { Context } from "../../view.ts";
import { LogLines } from "./log-lines.ts";

export interface LogViewerProps {
  readonly context: Context;
  readonly state: LogState;
  readonly wanted: readonly LogSource[];
  readonly isFollowed: boolean;
}

/** Of one container. Browsers hold a download in memory. */
const DOWNLOAD_BYTES_MAX = 50_000_000;

export function LogViewer({ context, state, wanted, isFollowed }: LogViewerProps): JSX.Element {
  const [text, setText] = useState("");
  const [isFiltered, setFiltered] = useState(false);
  const [hasTimes, setTimes] = useState(false);
  const [current, setCurrent] = useState(0);
  const [failure, setFailure] = useState<string | undefined>(undefined);
  const pattern = useMemo(() => searchPattern(text), [text]);
  const matches = useMemo(
    () => (pattern === undefined ? [] : state.lines.filter((line) => lineMatches(line.text, pattern))),
    [state.lines, pattern],
  );
  const lines = isFiltered && pattern !== undefined ? matches : state.lines;
  const position = Math.min(current, Math.max(0, matches.length - 1));
  const go = (step: number) => setCurrent(matches.length === 0 ? 0 : (position + step + matches.length) % matches.length);
  const save = () => void download(context, state, wanted).then(setFailure);
  return h(
    "div",
    { class: "log-viewer" },
    h(
      "div",
      { class: "controls" },
      h("input", {
        type: "search",
        placeholder: "Search in the log",
        "aria-label": "Search in the log",
        value: text,
        onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
          setText(currentTarget.value);
          setCurrent(0);
        },
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
        },
      }),
      pattern === undefined
        ? null
        : h("span", { class: "count", role: "status" }, matches.length === 0 ? "no match" : `${position + 1} of ${matches.length}`),
      pattern === undefined ? null : h(Button, { text: "▲", label: "Previous match", press: () => go(-1) }),
      pattern === undefined ? null : h(Button, { text: "▼", label: "Next match", press: () => go(1) }),
      h(Checkbox, { label: "Only matching lines", isChecked: isFiltered, change: setFiltered }),
      h(Checkbox, { label: "Timestamps", isChecked: hasTimes, change: setTimes }),
      h(Button, { text: "Download", press: save }),
    ),
    failure === undefined ? null : h("p", { class: "note error", role: "alert" }, failure),
    h(LogLines, {
      ...{ browser: context.browser, lines, sources: state.sources, pattern, hasTimes, isFollowed },
      hasNames: state.sources.length > 1,
      shown: pattern === undefined ? undefined : matches[position],
    }),
    h("p", { class: "count" }, countText(state)),
  );
}

function countText({ lines, dropped, sources }: LogState): string {
  const of = sources.length > 1 ? ` of ${sources.length} containers` : "";
  return `${lines.length} lines${of}${dropped === 0 ? "" : `; ${dropped} older ones are no longer kept here`}`;
}

/** The whole log of one container; of several, the lines that are shown. Returns the problem. */
async function download(
  { api, browser }: Context,
  { lines, sources }: LogState,
  wanted: readonly LogSource[],
): Promise<string | undefined> {
  const [only] = wanted;
  if (only === undefined || wanted.length > 1) {
    browser.save("logs.txt", lines.map((line) => `${prefixOf(line, sources)} ${plainText(line.text)}\n`).join(""));
    return undefined;
  }
  try {
    const response = await api.send({ path: logPath(only, { limitBytes: String(DOWNLOAD_BYTES_MAX) }), accept: "*/*" });
    browser.save(`${only.pod}-${only.container}.log`, new TextDecoder().decode(await response.bytes()));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function prefixOf({ at, source }: LogLine, sources: readonly LogSource[]): string {
  const from = sources[source];
  return `${at} ${from === undefined ? "" : sourceName(from)}`;
}
