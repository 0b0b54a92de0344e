/** The bar at the top: time of the cluster, its speed, and which panes are shown. */
import { h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatTime } from "../../api/machinery/time.ts";
import { SPEEDS, type Speed } from "../cluster/pace.ts";
import type { RunningTab } from "./running-tab.ts";
import { LANGUAGES, TEXTS, type Language } from "./texts.ts";

export const PANES = ["lessons", "dashboard", "prompt", "editor"] as const;
export type Pane = (typeof PANES)[number];

export interface TimeBarProps {
  readonly tab: RunningTab | undefined;
  readonly speed: Speed;
  setSpeed(speed: Speed): void;
  readonly pane: Pane;
  show(pane: Pane): void;
  readonly areLessonsOpen: boolean;
  readonly language: Language;
  setLanguage(language: Language): void;
  restart(): void;
}

/** How often the time is updated. */
const SHOW_MS = 200;

export function TimeBar(props: TimeBarProps): JSX.Element {
  const { tab, speed, setSpeed, pane, show, areLessonsOpen, language, setLanguage, restart } = props;
  const texts = TEXTS[language];
  return h(
    "div",
    { class: "time-bar", role: "toolbar", "aria-label": texts.time },
    h("strong", { class: "tab-brand" }, "k8ts"),
    h(
      "div",
      { class: "speeds", role: "group", "aria-label": texts.time },
      SPEEDS.map((one) =>
        h(
          "button",
          {
            key: one,
            type: "button",
            "aria-pressed": speed === one,
            "aria-label": one === 0 ? texts.pause : texts.speed(one),
            title: one === 0 ? texts.pause : texts.speed(one),
            onClick: () => setSpeed(one),
          },
          one === 0 ? "❚❚" : `×${one}`,
        ),
      ),
      h("button", { type: "button", disabled: tab === undefined, onClick: () => void tab?.pace.step() }, texts.step),
    ),
    h(ClusterTime, { tab }),
    h(
      "div",
      { class: "pane-buttons", role: "group", "aria-label": "Panes" },
      PANES.map((one) =>
        h(
          "button",
          {
            key: one,
            type: "button",
            class: `pane-button ${one}`,
            "aria-pressed": one === "lessons" ? areLessonsOpen || pane === one : pane === one,
            onClick: () => show(one),
          },
          texts[one],
        ),
      ),
    ),
    h("button", { type: "button", class: "restart", onClick: restart }, texts.newCluster),
    h(
      "select",
      {
        "aria-label": texts.language,
        value: language,
        onChange: ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => setLanguage(currentTarget.value as Language),
      },
      LANGUAGES.map((one) => h("option", { key: one, value: one }, TEXTS[one].languageName)),
    ),
  );
}

function ClusterTime({ tab }: { readonly tab: RunningTab | undefined }): JSX.Element {
  const [now, setNow] = useState<number | undefined>(undefined);
  useEffect(() => {
    if (tab === undefined) return setNow(undefined);
    const life = new AbortController();
    const run = async () => {
      while (!life.signal.aborted) {
        setNow(tab.cluster.clock.now());
        await tab.browser.clock.sleep(SHOW_MS, life.signal);
      }
    };
    run().catch(() => undefined);
    return () => life.abort();
  }, [tab]);
  return h("time", { class: "cluster-time" }, now === undefined ? "–" : formatTime(now).replace("T", " ").replace("Z", " UTC"));
}
