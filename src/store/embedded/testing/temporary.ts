/** Embedded stores in directories that are removed after the test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import type { RestorableStore } from "../../store.ts";
import { openEmbeddedStore } from "../embedded-store.ts";

export function openIn(directory: string): Promise<RestorableStore> {
  return openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
}

export function makeTemporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "k8ts-embedded-"));
}

export async function inDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = await makeTemporaryDirectory();
  try {
    await body(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
