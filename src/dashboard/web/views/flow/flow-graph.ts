/** The graph of a flow as SVG. For the eye and the mouse: the list of steps has the same for keyboard and screen reader. */
import { h, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { FlowStep } from "../../../data/flow/flow-graph.ts";
import {
  STEP_HEIGHT,
  STEP_WIDTH,
  type FlowLayout,
  type PlacedLink,
  type PlacedRest,
  type PlacedStep,
} from "../../../data/flow/flow-layout.ts";

export interface FlowGraphProps {
  readonly layout: FlowLayout;
  /** Number of steps that are shown. */
  readonly shown: number;
  readonly current: string;
  /** The step that was shown last: it is scrolled into view. */
  readonly newest: string;
  choose(step: FlowStep): void;
}

/** Characters that fit a box; titles are bold. */
const TITLE_LENGTH = 22;
const SUBTITLE_LENGTH = 27;
/** Below this scale not even the titles of an overview are legible: a wider graph scrolls. */
const OVERVIEW_SCALE_MIN = 0.32;
/** Units of the graph: 8 pixels at that scale. */
const OVERVIEW_FONT_SIZE = 24;
const OVERVIEW_TITLE_LENGTH = 11;

export function FlowGraph({ layout, shown, current, newest, choose }: FlowGraphProps): JSX.Element {
  const [isFitted, setFitted] = useState(false);
  const region = useRef<HTMLDivElement>(null);
  const last = layout.steps.find(({ step }) => step.id === newest);
  useEffect(() => {
    if (last === undefined) return;
    if (isFitted) region.current?.scrollTo(0, 0);
    else region.current?.scrollTo({ left: last.x - region.current.clientWidth * 0.6, top: last.y - region.current.clientHeight / 2 });
  }, [last?.x, last?.y, isFitted]);
  const { width, height } = layout;
  return h(
    "div",
    { class: "flow-picture" },
    h("button", { type: "button", class: "fit", onClick: () => setFitted(!isFitted) }, isFitted ? "Full size" : "Overview"),
    h(
      "div",
      { class: `flow-graph ${isFitted ? "fitted" : ""}`, ref: region, tabIndex: 0, role: "region", "aria-label": "Graph of the steps" },
      h(
        "svg",
        {
          ...(isFitted ? { style: { minWidth: `${width * OVERVIEW_SCALE_MIN}px`, maxWidth: `${width}px` } } : { width, height }),
          viewBox: `0 0 ${width} ${height}`,
          role: "img",
          "aria-label": `${Math.min(shown, layout.steps.length)} steps, which are listed below`,
        },
        layout.links.filter(({ index }) => index < shown).map((link) => h(Link, { key: link.to, link })),
        layout.rests.filter(({ index }) => index < shown).map((rest) => h(Rest, { key: rest.id, rest })),
        layout.steps
          .filter(({ index }) => index < shown)
          .map((placed) => h(Step, { key: placed.step.id, placed, isFitted, isCurrent: placed.step.id === current, choose })),
      ),
    ),
  );
}

function Link({ link: { x1, y1, x2, y2 } }: { readonly link: PlacedLink }): JSX.Element {
  const middle = (x1 + x2) / 2;
  // Length 1, so that the animation draws it from its start to its end.
  return h("path", { class: "link", pathLength: 1, d: `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}` });
}

interface StepProps {
  readonly placed: PlacedStep;
  readonly isCurrent: boolean;
  /** Only a title, in large letters. */
  readonly isFitted: boolean;
  choose(step: FlowStep): void;
}

function Step({ placed: { step, x, y }, isCurrent, isFitted, choose }: StepProps): JSX.Element {
  const { stage, title, subtitle, isRefused, sentence, item } = step;
  return h(
    "g",
    { class: `step ${stage} ${isRefused ? "refused" : ""} ${isCurrent ? "current" : ""}`, onClick: () => choose(step) },
    h("title", null, sentence),
    h("rect", { x, y, width: STEP_WIDTH, height: STEP_HEIGHT, rx: stage === "controller" ? STEP_HEIGHT / 2 : 6 }),
    isFitted
      ? h(
          "text",
          { class: "title", x: x + 12, y: y + 31, "font-size": OVERVIEW_FONT_SIZE },
          shortened(overviewTitle(step), OVERVIEW_TITLE_LENGTH),
        )
      : [
          h("text", { class: "title", x: x + 12, y: y + 19 }, shortened(title, TITLE_LENGTH)),
          h("text", { class: "subtitle", x: x + 12, y: y + 36 }, shortened(subtitle, SUBTITLE_LENGTH)),
        ],
    stage === "store" && (item.admission ?? []).length > 0 && step.parent?.startsWith("controller:") === true
      ? h("circle", { class: "changed", cx: x + STEP_WIDTH - 10, cy: y + 10, r: 4 })
      : null,
  );
}

function Rest({ rest: { x, y, count } }: { readonly rest: PlacedRest }): JSX.Element {
  return h(
    "g",
    { class: "step rest" },
    h("rect", { x, y, width: STEP_WIDTH, height: STEP_HEIGHT, rx: 6 }),
    h("text", { class: "title", x: x + 12, y: y + 26 }, `and ${count} more`),
  );
}

/** What distinguishes a step: the resource of a write, the name of a controller. */
function overviewTitle({ stage, title }: FlowStep): string {
  return stage === "controller" ? title.replace(/-controller$/, "") : title.replace(/^\w+ (?=[a-z])/, "");
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
