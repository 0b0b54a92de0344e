import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { STOP_REQUEST, STOPPING_SIGNALS, stopOnSignals } from "./signals.ts";

function given() {
  const listeners = new Map<string, () => void>();
  const stop = new AbortController();
  const seen: string[] = [];
  stop.signal.addEventListener("abort", () => seen.push("stop"));
  stopOnSignals({ on: (signal, listener) => listeners.set(signal, listener) }, stop, () => seen.push("end at once"));
  return { send: (signal: string) => listeners.get(signal)?.(), stop, seen };
}

describe("the first signal requests a stop, the second exits immediately, in any combination", () => {
  for (const first of STOPPING_SIGNALS) {
    for (const second of STOPPING_SIGNALS) {
      test(`${first}, ${second}`, () => {
        const { send, seen } = given();
        send(first);
        deepEqual(seen, ["stop"]);
        send(second);
        deepEqual(seen, ["stop", "end at once"]);
      });
    }
  }
});

test("the stop request of another k8ts stops the command, and does not terminate it when repeated", () => {
  const { send, seen } = given();
  send(STOP_REQUEST);
  send(STOP_REQUEST);
  deepEqual(seen, ["stop"]);
  send("SIGINT");
  deepEqual(seen, ["stop", "end at once"]);
});

test("a signal to a process that is already stopping exits immediately", () => {
  const { send, stop, seen } = given();
  stop.abort();
  send("SIGINT");
  deepEqual(seen, ["stop", "end at once"]);
});
