/** Messages of exec and attach over a WebSocket, protocol v5: the first byte is the channel. Pure. */
import { field, objectsAt, textAt } from "../fields.ts";

export const EXEC_PROTOCOL = "v5.channel.k8s.io";

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const OUTCOME = 3;
const SIZE = 4;

/** How a command ended. */
export interface Outcome {
  /** Undefined: it did not run, or the connection ended before. */
  readonly exitCode?: number;
  readonly message: string;
}

export type ServerMessage =
  | { readonly is: "output"; readonly bytes: Uint8Array }
  | { readonly is: "outcome"; readonly outcome: Outcome }
  | { readonly is: "other" };

export function inputMessage(bytes: Uint8Array): Uint8Array {
  return onChannel(STDIN, bytes);
}

export function sizeMessage({ columns, rows }: { readonly columns: number; readonly rows: number }): Uint8Array {
  return onChannel(SIZE, new TextEncoder().encode(JSON.stringify({ Width: columns, Height: rows })));
}

export function readMessage(message: Uint8Array): ServerMessage {
  const [channel] = message;
  if (channel === STDOUT || channel === STDERR) return { is: "output", bytes: message.subarray(1) };
  if (channel === OUTCOME) return { is: "outcome", outcome: outcomeOf(new TextDecoder().decode(message.subarray(1))) };
  return { is: "other" };
}

/** From the Status that the server sends last. */
function outcomeOf(text: string): Outcome {
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    return { message: text };
  }
  if (field(status, "status") === "Success") return { exitCode: 0, message: "" };
  const cause = objectsAt(status, "details", "causes").find(({ reason }) => reason === "ExitCode");
  const code = cause === undefined ? undefined : Number(textAt(cause, "message"));
  return { message: textAt(status, "message"), ...(code === undefined || Number.isNaN(code) ? {} : { exitCode: code }) };
}

function onChannel(channel: number, bytes: Uint8Array): Uint8Array {
  const message = new Uint8Array(bytes.length + 1);
  message[0] = channel;
  message.set(bytes, 1);
  return message;
}
