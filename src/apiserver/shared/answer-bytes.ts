/** Collects the body of an answer that the server itself requested from a node or Pod. */
import { onAbort } from "../../base/abort.ts";
import type { ExchangeAnswer, Sink } from "../framework/exchange.ts";

/** Rejects if the body is longer than `bytesMax`, if it ends prematurely, if the answer is an upgrade, or with the signal's reason. */
export async function answerBytes(answer: ExchangeAnswer, bytesMax: number, signal?: AbortSignal): Promise<Uint8Array> {
  if ("body" in answer) return joined(answer.body, bytesMax);
  if (!("stream" in answer)) throw new Error("Cannot read the body of the answer: the connection was upgraded");
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let size = 0;
    const closed: (() => void)[] = [];
    let isClosed = false;
    const close = (): void => {
      isClosed = true;
      closed.splice(0).forEach((listener) => listener());
    };
    const sink: Sink = {
      write({ bytes }) {
        size += bytes.length;
        if (size <= bytesMax) pieces.push(bytes);
        else fail(tooLong(bytesMax));
        return 0;
      },
      end() {
        resolve(joined(pieces, bytesMax));
        close();
      },
      abort: () => fail(new Error("The body of the answer ended prematurely")),
      onClosed: (listener) => (isClosed ? listener() : void closed.push(listener)),
      onDrained: () => undefined,
    };
    const fail = (error: Error): void => {
      reject(error);
      close();
    };
    if (signal !== undefined) {
      if (signal.aborted) fail(signal.reason as Error);
      else closed.push(onAbort(signal, () => fail(signal.reason as Error)));
    }
    answer.stream(sink);
  });
}

function joined(pieces: readonly Uint8Array[], bytesMax: number): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  if (bytes.length > bytesMax) throw tooLong(bytesMax);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function tooLong(bytesMax: number): Error {
  return new Error(`The body of the answer is longer than ${bytesMax} bytes`);
}
