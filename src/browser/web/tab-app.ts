/** The page: a cluster in this tab with the dashboard, a prompt, an editor and lessons around it. */
import { h, type JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { App } from "../../dashboard/web/app.ts";
import type { Speed } from "../cluster/pace.ts";
import { preloadDescriptions } from "../cluster/tab-cluster.ts";
import { EditorPane, FIRST_FILE } from "./editor-pane.ts";
import { LessonPane, type Place } from "./lesson-pane.ts";
import { loadLessons, type LoadedLessons } from "./lesson-texts.ts";
import type { TabBrowser } from "./page/tab-browser.ts";
import { PromptPane } from "./prompt-pane.ts";
import { PromptScreen } from "./prompt-screen.ts";
import { startRunningTab, type RunningTab } from "./running-tab.ts";
import { LANGUAGES, languageOf, TEXTS, type Language, type Texts } from "./texts.ts";
import { TimeBar, type Pane } from "./time-bar.ts";

interface Started {
  readonly tab: RunningTab;
  readonly screen: PromptScreen;
}

export function TabApp({ page }: { readonly page: TabBrowser }): JSX.Element {
  const [language, setLanguage] = useLanguage(page);
  const [speed, setSpeed] = useState<Speed>(1);
  const [place, setPlace] = useState<Place>({ lesson: Number(page.parameters.get("lesson") ?? 0) - 1, step: -1 });
  const [pane, setPane] = useState<Pane>("prompt");
  const [areLessonsOpen, setLessonsOpen] = useState(true);
  const [file, setFile] = useState(FIRST_FILE);
  const { started, problem, restart } = useCluster(page, speed);
  const loaded = useLessons(language);
  usePreloading(page, started !== undefined);
  const texts = TEXTS[language];
  useEffect(() => {
    if (started !== undefined) started.tab.pace.speed = speed;
  }, [started, speed]);
  useEffect(() => provideFiles(started, loaded, place.lesson), [started, loaded, place.lesson]);
  const show = (wanted: Pane) => {
    if (wanted === "lessons" && !page.isNarrow()) return setLessonsOpen(!areLessonsOpen);
    // Beside the dashboard one of prompt and editor is open; the same button closes it.
    setPane(wanted === pane && !page.isNarrow() ? "dashboard" : wanted);
  };
  const startLesson = (lesson: number) => {
    setPlace({ lesson, step: -1 });
    void restart();
  };
  const run = (text: string) => {
    setPane("prompt");
    void started?.screen.enterAll(text);
  };
  const edit = (name: string) => {
    setFile(name);
    setPane("editor");
  };
  const bar = { tab: started?.tab, speed, setSpeed, pane, show, areLessonsOpen, language, setLanguage, restart: () => void restart() };
  const lessons = { ...loaded, place, go: setPlace, start: startLesson, tab: started?.tab, texts, run, edit };
  return h(
    "div",
    { class: `tab-page show-${pane} ${areLessonsOpen ? "" : "no-lessons"}` },
    h(TimeBar, bar),
    h("aside", { class: "lessons-side" }, h(LessonPane, lessons)),
    h(ClusterSide, { started, problem, texts }),
    started === undefined
      ? null
      : h(
          "div",
          { class: "tools-side", key: started.tab.id },
          pane === "editor"
            ? h(EditorPane, { tab: started.tab, screen: started.screen, texts, file, open: setFile })
            : h(PromptPane, { screen: started.screen, texts }),
        ),
  );
}

interface ClusterSideProps {
  readonly started: Started | undefined;
  readonly problem: string | undefined;
  readonly texts: Texts;
}

function ClusterSide({ started, problem, texts }: ClusterSideProps): JSX.Element {
  return h(
    "div",
    { class: "cluster-side" },
    problem === undefined ? null : h("div", { class: "note error", role: "alert" }, `${texts.failed} ${problem}`),
    started === undefined
      ? h("p", { class: "starting", role: "status" }, problem === undefined ? texts.starting : "")
      : h(App, { key: started.tab.id, browser: started.tab.browser, connect: () => started.tab.connection, withoutLogin: true }),
  );
}

/** Files of a lesson are there before its commands use them. */
function provideFiles(started: Started | undefined, loaded: LoadedLessons, lesson: number): void {
  for (const [name, text] of loaded.lessons[lesson]?.files ?? []) started?.tab.prompt.files.set(name, text);
}

function useLanguage(page: TabBrowser): readonly [Language, (language: Language) => void] {
  const [language, setLanguage] = useState(() =>
    languageOf(page.parameters.get("lang") ?? undefined, page.choices.read("language"), ...page.languages),
  );
  useEffect(() => page.setLanguage(language), [language]);
  return [
    language,
    (chosen) => {
      page.choices.write("language", chosen);
      setLanguage(chosen);
    },
  ];
}

function useLessons(language: Language): LoadedLessons {
  const [loaded, setLoaded] = useState<LoadedLessons>({ lessons: [], pictures: {} });
  useEffect(() => {
    let isCurrent = true;
    void loadLessons(language).then((lessons) => isCurrent && setLoaded(lessons));
    return () => void (isCurrent = false);
  }, [language]);
  return loaded;
}

/** After the first start, which needs the processor: then the page needs no network any more. */
function usePreloading(page: TabBrowser, isStarted: boolean): void {
  useEffect(() => {
    if (!isStarted) return;
    void Promise.all([...LANGUAGES.map(loadLessons), preloadDescriptions(), page.preloadDashboard()]).then(() => page.mark("loaded"));
  }, [isStarted]);
}

function useCluster(page: TabBrowser, speed: Speed) {
  const [started, setStarted] = useState<Started | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const current = useRef<RunningTab | undefined>(undefined);
  const restart = useMemo(
    () => async () => {
      const old = current.current;
      current.current = undefined;
      setStarted(undefined);
      setProblem(undefined);
      await old?.[Symbol.asyncDispose]();
      try {
        const tab = await startRunningTab(page, speed);
        current.current = tab;
        setStarted({ tab, screen: new PromptScreen(tab.prompt) });
        void tab.failed.then((error) => current.current === tab && setProblem(error.message));
        page.mark("started");
      } catch (error) {
        setProblem((error as Error).message);
      }
    },
    [],
  );
  useEffect(() => void restart(), []);
  return { started, problem, restart };
}
