/** A terminal emulator (xterm.js) in an element of the page. Loaded when the first one opens. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal, type ITheme } from "@xterm/xterm";
import { strictDocument, withStrictElements } from "./strict-document.ts";

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface TerminalOptions {
  readonly label: string;
  readonly theme: "light" | "dark";
  /** Announces output, at the price of input by means other than keys and input methods. */
  readonly hasScreenReader: boolean;
  /** Bytes of the keyboard, a paste, or an answer of the terminal. */
  input(bytes: Uint8Array): void;
  resized(size: TerminalSize): void;
  /** The user leaves the terminal by keyboard: Tab belongs to the program in it. */
  left(): void;
}

export interface TerminalScreen {
  readonly size: TerminalSize;
  write(bytes: Uint8Array | string): void;
  clear(): void;
  focus(): void;
  dispose(): void;
}

/** Lines above the screen that stay readable. */
const SCROLLBACK = 5_000;

const THEMES: Readonly<Record<TerminalOptions["theme"], ITheme>> = {
  light: {
    ...{ background: "#ffffff", foreground: "#1c2733", cursor: "#0b5cad", cursorAccent: "#ffffff", selectionBackground: "#b6d7f5" },
    ...{ black: "#1c2733", red: "#a40e26", green: "#116329", yellow: "#7a4b00", blue: "#0b5cad", magenta: "#7a2e9e", cyan: "#0a6168" },
    ...{ white: "#52606f", brightBlack: "#52606f", brightRed: "#c01c33", brightGreen: "#1a7f37", brightYellow: "#8a5a00" },
    ...{ brightBlue: "#1468c0", brightMagenta: "#8c3fb3", brightCyan: "#0d7079", brightWhite: "#3a4754" },
  },
  dark: {
    ...{ background: "#0c1218", foreground: "#e4eaf0", cursor: "#6cb6ff", cursorAccent: "#0c1218", selectionBackground: "#2f4b68" },
    ...{ black: "#8795a3", red: "#ff8f98", green: "#6fdd8b", yellow: "#f0b95e", blue: "#6cb6ff", magenta: "#d6a0f5", cyan: "#6bd5de" },
    ...{ white: "#e4eaf0", brightBlack: "#a5b2bf", brightRed: "#ffb0b6", brightGreen: "#97edac", brightYellow: "#ffd48a" },
    ...{ brightBlue: "#9dceff", brightMagenta: "#e6c2fb", brightCyan: "#9ae8ee", brightWhite: "#ffffff" },
  },
};

export function openTerminal(
  element: HTMLElement,
  { label, theme, hasScreenReader, input, resized, left }: TerminalOptions,
): TerminalScreen {
  const terminal = new Terminal({
    documentOverride: strictDocument(),
    theme: THEMES[theme],
    fontFamily: "ui-monospace, monospace",
    fontSize: 13,
    scrollback: SCROLLBACK,
    screenReaderMode: hasScreenReader,
    cursorBlink: false,
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  // Its scroll bar creates an element of the global document.
  withStrictElements(() => terminal.open(element));
  terminal.textarea?.setAttribute("aria-label", label);
  const encoder = new TextEncoder();
  terminal.onData((text) => input(encoder.encode(text)));
  terminal.onBinary((text) => input(Uint8Array.from(text, (character) => character.charCodeAt(0))));
  terminal.onResize(({ cols: columns, rows }) => resized({ columns, rows }));
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== "Escape" || !event.shiftKey) return true;
    event.preventDefault();
    if (event.type === "keydown") left();
    return false;
  });
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(element);
  fit.fit();
  return {
    get size() {
      return { columns: terminal.cols, rows: terminal.rows };
    },
    write: (bytes) => terminal.write(bytes),
    clear: () => terminal.reset(),
    focus: () => terminal.focus(),
    dispose() {
      observer.disconnect();
      terminal.dispose();
    },
  };
}
