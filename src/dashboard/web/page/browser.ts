/**
 * What pages may use of the browser besides the elements that they render. The only folder of the page that uses its globals, so that
 * everything else runs on a cluster in the same tab, too.
 */
import { encodeBase64Url } from "../../../api/machinery/codec/base64-url.ts";
import type { Clock } from "../../../base/clock.ts";
import { browserClock } from "./browser-clock.ts";
import type { EditorOptions, TextEditor } from "./editor.ts";
import type { TerminalOptions, TerminalScreen } from "./terminal.ts";

export type Theme = "light" | "dark";

export interface ChosenFile {
  readonly name: string;
  readonly sizeBytes: number;
  text(): Promise<string>;
}

export interface Browser {
  readonly clock: Clock;
  /** The fragment of the address, without "#". */
  readonly address: {
    read(): string;
    go(address: string): void;
    /** The same without an entry in the history. */
    replace(address: string): void;
    onChange(listener: () => void): () => void;
  };
  /** The session token: kept for this tab and this origin only, so that a reload does not log out. */
  readonly session: { read(): string | undefined; write(token: string | undefined): void };
  /** 256 unguessable bits, base64url. */
  secret(): string;
  /** Returns the code of a login link and removes it from the address and the history. */
  takeLoginCode(): string | undefined;
  /** `write` keeps a choice; without one, the theme is that of the system. */
  readonly theme: { read(): Theme; write(theme: Theme): void; show(): void };
  setTitle(title: string): void;
  /** Size of an element's content now and after each change. */
  observeHeight(element: Element, listener: (height: number) => void): () => void;
  onKey(listener: (event: KeyboardEvent) => void): () => void;
  save(name: string, text: string): void;
  /** Lets the user choose a file; undefined: none. */
  chooseFile(): Promise<ChosenFile | undefined>;
  /** A file that the user drops on the page. */
  onFileDrop(listener: (file: ChosenFile) => void): () => void;
  /** Loads the terminal emulator when it is first used. */
  openTerminal(element: HTMLElement, options: TerminalOptions): Promise<TerminalScreen>;
  /** Loads the text editor when it is first used. */
  openEditor(element: HTMLElement, options: EditorOptions): Promise<TextEditor>;
}

const SESSION_KEY = "k8ts-session";
const THEME_KEY = "k8ts-theme";

export function thisBrowser(): Browser {
  return {
    clock: browserClock,
    address: {
      read: () => decodedAddress(location.hash.slice(1)),
      go: (address) => void (location.hash = address),
      replace(address) {
        history.replaceState(undefined, "", `#${address}`);
        // Only a navigation emits it.
        dispatchEvent(new HashChangeEvent("hashchange"));
      },
      onChange: (listener) => listen("hashchange", listener),
    },
    session: {
      read: () => sessionStorage.getItem(SESSION_KEY) ?? undefined,
      write: (token) => (token === undefined ? sessionStorage.removeItem(SESSION_KEY) : sessionStorage.setItem(SESSION_KEY, token)),
    },
    secret: () => encodeBase64Url(crypto.getRandomValues(new Uint8Array(32))),
    takeLoginCode() {
      const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
      if (code !== undefined) history.replaceState(undefined, "", location.pathname);
      return code;
    },
    theme: {
      read: readTheme,
      write(theme) {
        localStorage.setItem(THEME_KEY, theme);
        showTheme();
      },
      show: showTheme,
    },
    setTitle: (title) => void (document.title = title),
    observeHeight(element, listener) {
      const observer = new ResizeObserver(() => listener(element.clientHeight));
      observer.observe(element);
      return () => observer.disconnect();
    },
    onKey: (listener) => listen("keydown", listener),
    save(name, text) {
      const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = name;
      link.click();
      URL.revokeObjectURL(url);
    },
    chooseFile,
    onFileDrop,
    openTerminal: async (element, options) => (await import("./terminal.ts")).openTerminal(element, options),
    openEditor: async (element, options) => (await import("./editor.ts")).openEditor(element, options),
  };
}

function chooseFile(): Promise<ChosenFile | undefined> {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".json,application/json";
  return new Promise((resolve) => {
    input.addEventListener("change", () => resolve(chosenFile(input.files?.[0])));
    input.addEventListener("cancel", () => resolve(undefined));
    input.click();
  });
}

function onFileDrop(listener: (file: ChosenFile) => void): () => void {
  const hasFile = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;
  // Without this a browser opens the file itself and leaves the page.
  const ends = [
    listen("dragover", (event) => void (hasFile(event) && event.preventDefault())),
    listen("drop", (event) => {
      const file = chosenFile(event.dataTransfer?.files[0]);
      if (file === undefined) return;
      event.preventDefault();
      listener(file);
    }),
  ];
  return () => ends.forEach((end) => end());
}

function chosenFile(file: File | undefined): ChosenFile | undefined {
  return file === undefined ? undefined : { name: file.name, sizeBytes: file.size, text: () => file.text() };
}

function readTheme(): Theme {
  const kept = localStorage.getItem(THEME_KEY);
  if (kept === "light" || kept === "dark") return kept;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function showTheme(): void {
  document.documentElement.dataset["theme"] = readTheme();
}

function listen<Name extends keyof WindowEventMap>(name: Name, listener: (event: WindowEventMap[Name]) => void): () => void {
  addEventListener(name, listener);
  return () => removeEventListener(name, listener);
}

/** An address that is not valid percent-encoding is taken as it is: no view has it, and the page says so. */
function decodedAddress(address: string): string {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}
