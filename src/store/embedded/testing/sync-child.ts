/**
 * Commits to the store in the directory of its first argument, sequentially, as many times as its second argument says. After each
 * acknowledgement it writes `ack <number>` to standard output, unbuffered, so that a trace of its system calls shows the order.
 */
import { writeSync } from "node:fs";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import { bytesValue } from "../../value.ts";
import { openEmbeddedStore } from "../embedded-store.ts";

const STANDARD_OUTPUT = 1;

const [directory = "", count = "1"] = process.argv.slice(2);
const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
writeSync(STANDARD_OUTPUT, "ack 0\n");
for (let number = 1; number <= Number(count); number++) {
  await store.commit([{ type: "put", key: `/pods/p${number}`, value: bytesValue(new Uint8Array(number)) }]);
  writeSync(STANDARD_OUTPUT, `ack ${number}\n`);
}
await store.close();
