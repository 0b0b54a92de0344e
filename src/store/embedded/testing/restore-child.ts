/** The victim of the test of interrupted restores: restores entries endlessly into its directory until it is killed. */
import { writeSync } from "node:fs";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import type { Entry } from "../../store.ts";
import { bytesValue } from "../../value.ts";
import { openEmbeddedStore } from "../embedded-store.ts";

/** More than one transaction of a restore holds. */
const ENTRIES_BEFORE_WORD = 3_000;

const [directory = ""] = process.argv.slice(2);
const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
await store.restore(entries(), 1_000_000_000);

async function* entries(): AsyncGenerator<Entry> {
  for (let index = 1; ; index++) {
    if (index === ENTRIES_BEFORE_WORD) writeSync(1, "restoring\n");
    yield { key: `/pods/p${index}`, revision: index, value: bytesValue(new Uint8Array(100)) };
  }
}
