import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { ExchangeAnswer } from "../framework/exchange.ts";
import { answerBytes } from "./answer-bytes.ts";
import { streamedAnswer } from "./streamed-response.ts";

const HEAD = { code: 200, headers: {} };

async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield new TextEncoder().encode(text);
  }
}

function streamed(...texts: readonly (string | Error)[]): ExchangeAnswer {
  return streamedAnswer(HEAD, () => pieces(...texts), { reportsFailure: false });
}

test("answerBytes joins the pieces of a whole and of a streamed answer", async () => {
  const whole = { ...HEAD, body: [new TextEncoder().encode("a"), new TextEncoder().encode("bc")] };

  equal(new TextDecoder().decode(await answerBytes(whole, 3)), "abc");
  equal(new TextDecoder().decode(await answerBytes(streamed("a", "bc"), 3)), "abc");
});

test("answerBytes rejects an answer that is too long or truncated", async () => {
  await rejects(answerBytes(streamed("ab", "cd"), 3), /longer than 3 bytes/);
  await rejects(answerBytes(streamed("ab", new Error("reset")), 3), /ended prematurely/);
});
