import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { silentLogger } from "../../../base/logger.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { AuthenticationContext } from "../../framework/authentication.ts";
import { LastUse } from "./last-use.ts";
import { LAST_USED_LABEL } from "../../../api/core/v1/secret/service-account-token.ts";
import { stub } from "../../../base/testing/stub.ts";

function secret(lastUsed?: string): KubeObject {
  const labels = lastUsed === undefined ? {} : { labels: { [LAST_USED_LABEL]: lastUsed } };
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "n", uid: "1", ...labels } };
}

function lastUse(label?: AuthenticationContext["label"]): LastUse {
  return new LastUse(stub<AuthenticationContext>({ clock: virtualClock(), log: silentLogger, label }));
}

for (const [what, lastUsed, writes] of [
  ["was never used", undefined, true],
  ["was used yesterday", "2025-12-31", true],
  ["was used today", "2026-01-01", false],
  ["was used tomorrow according to another server's clock", "2026-01-02", false],
  ["was used in a far future", "2026-01-03", true],
] as const) {
  test(`the last-used date of a Secret that ${what} is ${writes ? "" : "not "}written`, async () => {
    const written: unknown[] = [];

    await lastUse((...all) => {
      written.push(all);
      return Promise.resolve();
    }).note(secret(lastUsed));

    const expected = [{ group: "", plural: "secrets" }, { namespace: "n", name: "s" }, { [LAST_USED_LABEL]: "2026-01-01" }];
    deepEqual(written, writes ? [expected] : []);
  });
}

test("of concurrent uses of a Secret's token only the first writes the last-used date", async () => {
  let writes = 0;
  const use = lastUse(() => {
    writes++;
    return Promise.resolve();
  });

  const first = use.note(secret());
  equal(use.note(secret()), undefined);
  await first;

  equal(writes, 1);
});

test("a failed write of the last-used date does not reject the token", async () => {
  await lastUse(() => Promise.reject(new Error("no"))).note(secret());
  equal(lastUse().note(secret()), undefined);
});
