/** Lines of logs, of which only the visible ones are elements. At its end it stays at the end when lines arrive. */
import { h, type JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { markedPieces } from "../../../../data/logs/find-text.ts";
import type { LogLine } from "../../../../data/logs/log-buffer.ts";
import type { LogSource } from "../../../../data/logs/log-stream.ts";
import type { Browser } from "../../../page/browser.ts";

/** As in logs.css. */
const LINE_HEIGHT = 20;
const MARGIN = 20;
/** Colours of containers in logs.css. */
const COLOURS = 8;

export interface LogLinesProps {
  readonly browser: Browser;
  readonly lines: readonly LogLine[];
  readonly sources: readonly LogSource[];
  readonly pattern: RegExp | undefined;
  readonly hasTimes: boolean;
  readonly hasNames: boolean;
  readonly isFollowed: boolean;
  /** The line of the current match: it is scrolled into view. */
  readonly shown: LogLine | undefined;
}

export function LogLines(props: LogLinesProps): JSX.Element {
  const { browser, lines, isFollowed, shown } = props;
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = () => {
    const element = body.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
    setAtEnd(true);
  };
  useEffect(() => (body.current === null ? undefined : browser.observeHeight(body.current, setHeight)), [browser]);
  useLayoutEffect(() => {
    if (isFollowed && isAtEnd && shown === undefined) toEnd();
  }, [lines, height]);
  useLayoutEffect(() => {
    const index = shown === undefined ? -1 : lines.indexOf(shown);
    const element = body.current;
    if (index < 0 || element === null) return;
    element.scrollTop = index * LINE_HEIGHT - element.clientHeight / 2;
  }, [shown?.id]);
  const scrolled = () => {
    const element = body.current;
    if (element === null) return;
    setTop(element.scrollTop);
    setAtEnd(element.scrollTop + element.clientHeight >= element.scrollHeight - LINE_HEIGHT);
  };
  const first = Math.max(0, Math.floor(top / LINE_HEIGHT) - MARGIN);
  const last = Math.min(lines.length, Math.ceil((top + height) / LINE_HEIGHT) + MARGIN);
  return h(
    "div",
    { class: "log-frame" },
    h(
      "div",
      { class: "log", ref: body, role: "log", "aria-live": "off", "aria-label": "Log", tabIndex: 0, onScroll: scrolled },
      h(
        "div",
        { class: "all-lines", style: { height: `${lines.length * LINE_HEIGHT}px` } },
        lines.slice(first, last).map((line, index) => lineElement(props, line, first + index)),
      ),
    ),
    isAtEnd ? null : h("button", { type: "button", class: "to-end", onClick: toEnd }, "To the end ↓"),
  );
}

function lineElement({ sources, pattern, hasTimes, hasNames, shown }: LogLinesProps, line: LogLine, index: number): JSX.Element {
  const source = sources[line.source];
  const isSeveral = new Set(sources.map(({ pod }) => pod)).size > 1;
  return h(
    "div",
    {
      key: line.id,
      class: `line${line === shown ? " current" : ""}`,
      style: { transform: `translateY(${index * LINE_HEIGHT}px)` },
    },
    hasTimes ? h("span", { class: "time" }, `${line.at} `) : null,
    hasNames && source !== undefined
      ? h("span", { class: `source-${line.source % COLOURS}` }, `${isSeveral ? `${source.pod} ` : ""}${source.container} `)
      : null,
    markedPieces(line.text, pattern).map(({ text, style, isMatch }) => h(isMatch ? "mark" : "span", { class: style || undefined }, text)),
  );
}
