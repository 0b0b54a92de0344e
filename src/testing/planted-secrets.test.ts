import { equal, throws, doesNotThrow } from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "../base/logger.ts";
import { PLANTED, plantedIn, secretIn, watchedLog } from "./planted-secrets.ts";

for (const [name, value] of Object.entries(PLANTED)) {
  test(`${name} is found in a text, as it is and as part of a longer text in base64`, () => {
    equal(plantedIn(`before ${value} after`), name);
    for (const before of ["", "a", "ab", "abc", "a longer text: "]) equal(plantedIn(btoa(`${before}${value} and more`)), name, before);
    equal(plantedIn(value.slice(1)), undefined);
  });
}

test("a token and a private key are found whoever made them, and ordinary words are not", () => {
  const token = `${btoa('{"alg":"ES256"}')}.${btoa('{"iss":"x"}')}.c2lnbmF0dXJl`.replaceAll("=", "");
  equal(secretIn(`token=${token}`), "a token or a private key");
  equal(secretIn(["-----BEGIN EC", "PRIVATE KEY-----"].join(" ")), "a token or a private key");
  equal(secretIn("The private key of the server was renewed"), undefined);
});

test("a log that is watched tells that there was a secret, and does not tell the secret", () => {
  const watched = watchedLog();
  const log = createLogger({ sink: watched.sink, clock: { now: () => 0 }, level: "debug" });
  log.info("A request", { path: "/api" });
  doesNotThrow(() => watched.check());

  log.with({ part: "x" }).debug("A request", { header: { authorization: [`Bearer ${PLANTED.staticToken}`] } });

  throws(
    () => watched.check(),
    (error: Error) =>
      error.message.includes("staticToken") && error.message.includes("A request") && plantedIn(error.message) === undefined,
  );
});
