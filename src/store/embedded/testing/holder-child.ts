/**
 * Opens the store in the directory of its first argument and prints `open`, or `refused <reason> <message>`. Then commits each line of
 * standard input, which is a key, and prints `committed <key>`; closes the store at the end of input.
 */
import { createInterface } from "node:readline";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import { StoreError } from "../../store-error.ts";
import { bytesValue } from "../../value.ts";
import { openEmbeddedStore } from "../embedded-store.ts";

try {
  const store = await openEmbeddedStore({ directory: process.argv[2] ?? "", clock: realClock, log: silentLogger });
  process.stdout.write("open\n");
  for await (const key of createInterface({ input: process.stdin })) {
    await store.commit([{ type: "put", key, value: bytesValue(new Uint8Array(1)) }]);
    process.stdout.write(`committed ${key}\n`);
  }
  await store.close();
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  process.stdout.write(`refused ${error.reason} ${error.message}\n`);
}
