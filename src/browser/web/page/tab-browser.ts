/** What the page uses of the browser besides its elements: the dashboard's access to it, choices that are kept, and chance. */
import { thisBrowser, type Browser } from "../../../dashboard/web/page/browser.ts";

export interface TabBrowser {
  readonly dashboard: Browser;
  /** Kept on this machine, such as the language. Values are short. */
  readonly choices: { read(name: string): string | undefined; write(name: string, value: string): void };
  /** Parameters of the page's address: `?lesson=2&lang=ko`. */
  readonly parameters: URLSearchParams;
  /** The languages of the user, most wanted first. */
  readonly languages: readonly string[];
  /** A seed for a cluster. */
  seed(): number;
  setLanguage(language: string): void;
  /** Width and height of the page now. */
  isNarrow(): boolean;
  onResize(listener: () => void): () => void;
  /** Notes in the root element when this was first so, in milliseconds since the page began to load: for benchmarks and tests. */
  mark(name: "started" | "loaded"): void;
  /** Loads the parts of the dashboard that it loads when they are first used. */
  preloadDashboard(): Promise<unknown>;
}

const PREFIX = "k8ts-tab-";

/** Below it one pane is shown at a time; as in style.css. */
const NARROW_PX = 900;

export function tabBrowser(): TabBrowser {
  return {
    dashboard: thisBrowser(),
    choices: {
      read: (name) => localStorage.getItem(PREFIX + name) ?? undefined,
      write: (name, value) => localStorage.setItem(PREFIX + name, value),
    },
    parameters: new URLSearchParams(location.search),
    languages: navigator.languages,
    seed: () => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
    setLanguage: (language) => void (document.documentElement.lang = language),
    isNarrow: () => innerWidth < NARROW_PX,
    onResize(listener) {
      addEventListener("resize", listener);
      return () => removeEventListener("resize", listener);
    },
    mark: (name) => void (document.documentElement.dataset[name] ??= String(Math.round(performance.now()))),
    preloadDashboard: () =>
      Promise.all([import("../../../dashboard/web/page/editor.ts"), import("../../../dashboard/web/page/terminal.ts")]),
  };
}
