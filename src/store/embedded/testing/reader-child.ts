/**
 * Opens the store in the directory of its first argument, reads everything, writes something, closes it, and prints the result: `Damaged
 * <why>`, or `whole <description>`. It must get there whatever was done to the files.
 */
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import { isStoreError } from "../../store-error.ts";
import { bytesValue } from "../../value.ts";
import { openEmbeddedStore } from "../embedded-store.ts";
import { describe } from "./store-life.ts";

/** Enough for a new run of pages and a new leaf, so that the free list is used. */
const WRITTEN_BYTES = [100, 30_000] as const;

try {
  process.stdout.write(`whole ${await readAndWrite(process.argv[2] ?? "")}\n`);
} catch (error) {
  if (!isStoreError(error, "Damaged")) throw error;
  process.stdout.write(`Damaged ${error.message}\n`);
}

async function readAndWrite(directory: string): Promise<string> {
  const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
  try {
    const found = await describe(store);
    for (const [index, length] of WRITTEN_BYTES.entries()) {
      await store.commit([{ type: "put", key: `/written/${index}`, value: bytesValue(new Uint8Array(length)) }]);
    }
    return found;
  } finally {
    await store.close();
  }
}
