/**
 * Time: a slider over the history that the store still has. Every view shows the cluster as it was at its position; a mark begins a range
 * that can be compared or exported.
 */
import { h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { TIMELINE_PATH, type Timeline } from "../../../explain/explain-api.ts";
import { instantsOf, positionOf, shownTime, type TimelineInstant } from "../../data/time/instants.ts";
import type { Instant } from "../../data/time/past-connection.ts";
import { addressOf, type Route } from "../route.ts";
import type { Context } from "../views/view.ts";
import { ExportButton } from "./export-button.ts";

/** The timeline is read again this often while the bar is open. */
const INTERVAL_MS = 3_000;

export interface TimeBarProps {
  /** At the newest instant. */
  readonly context: Context;
  /** The instant that the page shows. Undefined: now. */
  readonly at: Instant | undefined;
  readonly route: Route;
  /** Undefined: now. */
  goTo(instant: Instant | undefined): void;
}

type State = { readonly instants: readonly TimelineInstant[] } | { readonly error: Error } | undefined;

export function TimeBar({ context, at, route, goTo }: TimeBarProps): JSX.Element {
  const state = useTimeline(context);
  const [mark, setMark] = useState<Instant | undefined>(undefined);
  if (state === undefined) return h("div", { class: "time-bar" }, h("span", { class: "count", role: "status" }, "Loading the history …"));
  if ("error" in state) return h("div", { class: "time-bar" }, h("span", { class: "note error", role: "alert" }, state.error.message));
  const { instants } = state;
  const [oldest, newest] = [instants[0], instants.at(-1)];
  if (oldest === undefined || newest === undefined) return h("div", { class: "time-bar" }, "No write is recorded yet.");
  const from = mark ?? oldest;
  const to = at ?? newest;
  const isRange = Number(from.revision) < Number(to.revision);
  return h(
    "div",
    { class: "time-bar", role: "group", "aria-label": "Time" },
    h(Slider, { instants, at, goTo }),
    h("span", { class: "instant", role: "status" }, at === undefined ? "now" : `${shownTime(at.timeMs)}, revision ${at.revision}`),
    h("button", { type: "button", disabled: at === undefined, onClick: () => goTo(undefined) }, "Now"),
    h(
      "button",
      { type: "button", onClick: () => setMark(to), title: "Begins the range that is compared and exported" },
      mark === undefined ? "Mark" : `Marked ${shownTime(mark.timeMs)}`,
    ),
    h(
      "a",
      { class: "button", href: `#${addressOf("changes", [], { from: from.revision, ns: route.query["ns"] })}`, "aria-disabled": !isRange },
      "Compare",
    ),
    isRange ? h(ExportButton, { context, from, to }) : null,
  );
}

interface SliderProps {
  readonly instants: readonly TimelineInstant[];
  readonly at: Instant | undefined;
  goTo(instant: Instant | undefined): void;
}

/** One position per instant, and "now" as the last. */
function Slider({ instants, at, goTo }: SliderProps): JSX.Element {
  const position = at === undefined ? instants.length : positionOf(instants, at.revision);
  const shown = instants[position];
  return h("input", {
    type: "range",
    "aria-label": "Instant of the history",
    "aria-valuetext": shown === undefined ? "now" : `${shownTime(shown.timeMs)}, revision ${shown.revision}`,
    min: 0,
    max: instants.length,
    value: position,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => goTo(instants[Number(currentTarget.value)]),
  });
}

function useTimeline({ api, browser: { clock } }: Context): State {
  const [state, setState] = useState<State>(undefined);
  useEffect(() => {
    const life = new AbortController();
    const run = async () => {
      while (!life.signal.aborted) {
        const read = await api.get<Timeline>(TIMELINE_PATH, life.signal).then(
          (timeline) => ({ instants: instantsOf(timeline) }),
          (error: unknown) => ({ error: error as Error }),
        );
        if (!life.signal.aborted) setState(read);
        await clock.sleep(INTERVAL_MS, life.signal);
      }
    };
    run().catch(() => undefined);
    return () => life.abort();
  }, [api]);
  return state;
}
