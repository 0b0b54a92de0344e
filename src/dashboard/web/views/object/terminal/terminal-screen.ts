/** One session in a terminal emulator. It ends with the element. */
import { h, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Outcome } from "../../../../data/terminal/exec-channels.ts";
import { startSession, type Target, type TerminalSession } from "../../../../data/terminal/terminal-session.ts";
import type { Context } from "../../view.ts";

export interface Connected {
  /** Distinguishes sessions. */
  readonly number: number;
  readonly container: string;
  /** Tried in this order. Absent: attach. */
  readonly commands?: readonly (readonly string[])[];
  readonly hasScreenReader: boolean;
}

export interface TerminalScreenProps {
  readonly context: Context;
  readonly target: Target;
  readonly connected: Connected;
}

export function TerminalScreen({ context, target, connected: { commands, hasScreenReader } }: TerminalScreenProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  const [state, setState] = useState("Connecting …");
  useEffect(() => {
    const life = new AbortController();
    const left = () => status.current?.focus();
    if (element.current !== null)
      run({ context, target, element: element.current, commands, hasScreenReader, left, changed: setState, signal: life.signal }).catch(
        (error: unknown) => setState(`Cannot open a terminal: ${(error as Error).message}`),
      );
    return () => life.abort();
  }, []);
  return h(
    "div",
    { class: "terminal-frame" },
    h("p", { class: "count", role: "status", ref: status, tabIndex: -1 }, `${target.pod} ${target.container}: ${state}`),
    h("div", { class: "terminal-host", ref: element }),
  );
}

interface RunOptions {
  readonly context: Context;
  readonly target: Target;
  readonly element: HTMLElement;
  readonly commands: Connected["commands"];
  readonly hasScreenReader: boolean;
  readonly signal: AbortSignal;
  left(): void;
  changed(state: string): void;
}

async function run({ context, target, element, commands, hasScreenReader, signal, left, changed }: RunOptions): Promise<void> {
  // oxlint-disable-next-line prefer-const -- it needs the screen, which sends to it
  let session: TerminalSession | undefined;
  const screen = await context.browser.openTerminal(element, {
    label: `Terminal of ${target.pod} ${target.container}`,
    theme: context.browser.theme.read(),
    hasScreenReader,
    input: (bytes) => session?.input(bytes),
    resized: (size) => session?.resize(size),
    left,
  });
  signal.addEventListener("abort", () => {
    session?.close();
    screen.dispose();
  });
  if (signal.aborted) return screen.dispose();
  session = startSession({
    ...{ connection: context.api.connection, target, size: screen.size },
    ...(commands === undefined ? {} : { commands }),
    output: (bytes) => screen.write(bytes),
    started: (command) => changed(command === "" ? "attached" : `connected (${command})`),
    ended: (outcome) => changed(endText(outcome)),
  });
  screen.focus();
}

function endText({ exitCode, message }: Outcome): string {
  if (exitCode === 0) return "ended";
  return exitCode === undefined ? `ended${message === "" ? "" : `: ${message}`}` : `ended with exit code ${exitCode}`;
}
