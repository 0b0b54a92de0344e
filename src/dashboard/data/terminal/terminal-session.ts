/**
 * A terminal session with a container: exec of the first of several commands that exists, or attach. Images have different shells, so
 * shells are tried in order until one starts. Not here: the emulator (web/page/terminal.ts).
 */
import type { ClusterConnection, ClusterSocket } from "../connection.ts";
import { EXEC_PROTOCOL, inputMessage, readMessage, sizeMessage, type Outcome } from "./exec-channels.ts";

export interface Target {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface SessionOptions {
  readonly connection: ClusterConnection;
  readonly target: Target;
  /** Tried in this order. Absent: attach to the container's own process. */
  readonly commands?: readonly (readonly string[])[];
  readonly size: Size;
  output(bytes: Uint8Array): void;
  /** The command that runs now; "" for attach. */
  started(command: string): void;
  /** Called exactly once. */
  ended(outcome: Outcome): void;
}

export interface TerminalSession {
  input(bytes: Uint8Array): void;
  resize(size: Size): void;
  close(): void;
}

/** Exit codes of runtimes and shells for a command that does not exist or is not executable. */
const MISSING_CODES: readonly number[] = [126, 127];
const MISSING = /executable file not found|no such file or directory|not found/i;

/** Shells of images, from the most comfortable to those of minimal images. */
export const SHELLS: readonly (readonly string[])[] = [["bash"], ["sh"], ["ash"], ["/busybox/sh"]];

export function sessionPath({ namespace, pod, container }: Target, command: readonly string[] | undefined): string {
  const query = new URLSearchParams({ container, stdin: "true", stdout: "true", tty: "true" });
  for (const word of command ?? []) query.append("command", word);
  const verb = command === undefined ? "attach" : "exec";
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/${verb}?${query.toString()}`;
}

export function startSession(options: SessionOptions): TerminalSession {
  return new Session(options);
}

class Session implements TerminalSession {
  readonly #options: SessionOptions;
  readonly #waiting: (readonly string[])[];
  #socket: ClusterSocket | undefined;
  #size: Size;
  #isOpen = false;
  #isEnded = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#size = options.size;
    this.#waiting = [...(options.commands ?? [])];
    this.#open(this.#waiting.shift());
  }

  input(bytes: Uint8Array): void {
    if (this.#isOpen) this.#socket?.send(inputMessage(bytes));
  }

  resize(size: Size): void {
    this.#size = size;
    if (this.#isOpen) this.#socket?.send(sizeMessage(size));
  }

  close(): void {
    this.#end({ message: "" });
    this.#socket?.close();
  }

  #open(command: readonly string[] | undefined): void {
    const { connection, target, output, started } = this.#options;
    let outcome: Outcome | undefined;
    /** Output is held back until it is known that it is not the message of a missing command. */
    let held: Uint8Array[] | undefined = this.#waiting.length > 0 ? [] : undefined;
    const release = () => {
      for (const bytes of held ?? []) output(bytes);
      held = undefined;
    };
    this.#socket = connection.open(sessionPath(target, command), [EXEC_PROTOCOL], {
      opened: () => {
        this.#isOpen = true;
        this.#socket?.send(sizeMessage(this.#size));
        started(command?.join(" ") ?? "");
      },
      message: (bytes) => {
        const message = readMessage(bytes);
        if (message.is === "outcome") outcome = message.outcome;
        // The server begins with an empty message for each stream.
        if (message.is !== "output" || message.bytes.length === 0 || this.#isEnded) return;
        if (held !== undefined && held.length === 0 && MISSING.test(new TextDecoder().decode(message.bytes))) held.push(message.bytes);
        else {
          release();
          output(message.bytes);
        }
      },
      closed: (reason) => {
        this.#isOpen = false;
        const last = outcome ?? { message: reason === "" ? "The connection was closed" : reason };
        if (this.#isEnded) return;
        if (isMissing(last) && this.#waiting.length > 0) return this.#open(this.#waiting.shift());
        release();
        this.#end(last);
      },
    });
  }

  #end(outcome: Outcome): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#options.ended(outcome);
  }
}

function isMissing({ exitCode, message }: Outcome): boolean {
  return exitCode === undefined ? MISSING.test(message) : MISSING_CODES.includes(exitCode);
}
