/** The lessons: a list, then one step at a time, with the cluster's answer whether it is done. */
import { h, type JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ClusterApi } from "../../dashboard/data/cluster-api.ts";
import { fetchKinds } from "../../dashboard/data/kinds.ts";
import { isFulfilled, type Check } from "../lessons/check.ts";
import type { Lesson, Step } from "../lessons/lesson.ts";
import { Markdown } from "./markdown-view.ts";
import type { RunningTab } from "./running-tab.ts";
import type { Texts } from "./texts.ts";

export interface Place {
  /** Index of the lesson; -1: the list. */
  readonly lesson: number;
  /** -1: the introduction. */
  readonly step: number;
}

export interface LessonPaneProps {
  readonly lessons: readonly Lesson[];
  readonly pictures: Readonly<Record<string, string>>;
  readonly place: Place;
  go(place: Place): void;
  /** Begins a lesson on a new cluster. */
  start(lesson: number): void;
  readonly tab: RunningTab | undefined;
  readonly texts: Texts;
  run(text: string): void;
  edit(file: string): void;
}

/** How often the cluster is asked. */
const ASK_MS = 500;

export function LessonPane(props: LessonPaneProps): JSX.Element {
  const { lessons, place, texts, tab, start, go } = props;
  const lesson = lessons[place.lesson];
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollTo(0, 0), [place.lesson, place.step]);
  if (lesson === undefined)
    return h(
      "section",
      { class: "lesson-pane", "aria-label": texts.lessons, tabIndex: 0 },
      h("h2", null, texts.lessons),
      h("p", null, texts.introduction),
      h(
        "ol",
        { class: "lesson-list" },
        lessons.map(({ title }, index) =>
          h("li", { key: title }, h("button", { type: "button", disabled: tab === undefined, onClick: () => start(index) }, title)),
        ),
      ),
    );
  const step = lesson.steps[place.step];
  return h(
    "section",
    { class: "lesson-pane", "aria-label": texts.lessons, tabIndex: 0, ref: section },
    h("button", { type: "button", class: "all-lessons", onClick: () => go({ lesson: -1, step: -1 }) }, `‹ ${texts.allLessons}`),
    h("h2", null, lesson.title),
    step === undefined
      ? h(Introduction, { ...props, lesson })
      : h(StepView, { ...props, key: `${place.lesson} ${place.step}`, lesson, step }),
  );
}

function Introduction({ lesson, ...props }: LessonPaneProps & { readonly lesson: Lesson }): JSX.Element {
  const { place, go, texts, run, edit } = props;
  return h(
    "div",
    null,
    h(Markdown, { blocks: lesson.introduction, pictureOf: pictureOf(props), texts, run, edit }),
    h(
      "div",
      { class: "lesson-buttons" },
      h("button", { type: "button", class: "primary", onClick: () => go({ ...place, step: 0 }) }, texts.startLesson),
    ),
  );
}

function pictureOf({ pictures }: LessonPaneProps): (address: string) => string | undefined {
  return (address) => pictures[address.slice(address.lastIndexOf("/") + 1)];
}

function StepView({ lesson, step, ...props }: LessonPaneProps & { readonly lesson: Lesson; readonly step: Step }): JSX.Element {
  const { place, go, start, texts, tab, run, edit, lessons } = props;
  const isDone = useAnswer(tab, step.checks);
  const isLast = place.step === lesson.steps.length - 1;
  const next = () =>
    isLast
      ? place.lesson + 1 < lessons.length
        ? start(place.lesson + 1)
        : go({ lesson: -1, step: -1 })
      : go({ ...place, step: place.step + 1 });
  return h(
    "div",
    null,
    h("p", { class: "step-count" }, texts.stepOf(place.step + 1, lesson.steps.length)),
    h("h3", null, step.title),
    h(Markdown, { blocks: step.blocks, pictureOf: pictureOf(props), texts, run, edit }),
    h(
      "p",
      { class: `answer ${isDone ? "done" : "open"}`, role: "status" },
      h("span", { "aria-hidden": "true" }, isDone ? "✓ " : "○ "),
      isDone ? texts.done : texts.notDone,
      isDone && isLast ? ` ${texts.finished}` : "",
    ),
    h(
      "details",
      null,
      h("summary", null, texts.question),
      step.checks.map(({ reference, namespace, selector, expression }, index) =>
        h(
          "pre",
          { key: index, tabIndex: 0 },
          [reference, ...(selector === undefined ? [] : ["-l", selector]), ...(namespace === "default" ? [] : ["-n", namespace])].join(" "),
          "\n",
          expression,
        ),
      ),
    ),
    h(
      "div",
      { class: "lesson-buttons" },
      h("button", { type: "button", onClick: () => go({ ...place, step: place.step - 1 }) }, texts.previous),
      h("button", { type: "button", class: isDone ? "primary" : "", onClick: next }, texts.next),
    ),
  );
}

/** The steps that were done on a cluster, by their checks, which are the same in all languages: a step that is shown again is still done. */
const doneOn = new WeakMap<RunningTab, Set<string>>();

function doneStepsOf(tab: RunningTab): Set<string> {
  const known = doneOn.get(tab) ?? new Set();
  doneOn.set(tab, known);
  return known;
}

/** True once the cluster has answered yes to all checks; it stays so, since later steps undo what earlier ones did. */
function useAnswer(tab: RunningTab | undefined, checks: readonly Check[]): boolean {
  const [isDone, setDone] = useState(() => tab !== undefined && doneStepsOf(tab).has(JSON.stringify(checks)));
  const api = useMemo(() => (tab === undefined ? undefined : new ClusterApi(tab.cluster.connection)), [tab]);
  useEffect(() => {
    if (api === undefined || tab === undefined || isDone) return undefined;
    const life = new AbortController();
    const run = async () => {
      const kinds = await fetchKinds(api);
      while (!life.signal.aborted) {
        const answers = await Promise.all(checks.map((check) => isFulfilled(check, api, kinds)));
        if (answers.every(Boolean) && !life.signal.aborted) {
          doneStepsOf(tab).add(JSON.stringify(checks));
          return setDone(true);
        }
        await tab.browser.clock.sleep(ASK_MS, life.signal);
      }
    };
    run().catch(() => undefined);
    return () => life.abort();
  }, [api, checks, isDone]);
  return isDone;
}
