import { equal } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../../../host/files/private-files.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { failure } from "../../answers.ts";
import { DEFAULT_DNS_CONFIGURATION } from "../../configuration.ts";
import { answerText, pluginContext, query } from "../../testing/plugin-context.ts";
import { RCODE } from "../../wire/codes.ts";
import { hosts } from "./hosts.ts";

test("the file is read again when it changes, and kept answers are dropped", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-hosts-");
  const file = join(directory.path, "hosts");
  await writeFile(file, "192.0.2.1 router\n");
  const clock = virtualClock();
  let dropped = 0;
  const configuration = { ...DEFAULT_DNS_CONFIGURATION, hosts: { file, ttlSeconds: 30 } };
  await using plugin = await hosts.start(pluginContext(clock, { configuration, changedAll: () => void dropped++ }));
  const ask = async () => answerText(await (plugin.handle?.(query("router"), () => failure(RCODE.REFUSED)) ?? failure(RCODE.REFUSED)));
  equal(await ask(), "NOERROR router 30 A 192.0.2.1");
  await writeFile(file, "192.0.2.9 router\n");
  await clock.advance(10_000);
  equal(await ask(), "NOERROR router 30 A 192.0.2.9");
  equal(dropped, 2);
});
