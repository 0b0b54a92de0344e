import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import type { RestorableStore } from "../store.ts";
import type { OpenedStore } from "../testing/harness.ts";
import { ownedSuite, restorableSuite, storeSuite } from "../testing/store-suite.ts";
import { openEmbeddedStore } from "./embedded-store.ts";

async function openTemporary(): Promise<OpenedStore<RestorableStore>> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-embedded-"));
  const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
  return { store, close: () => rm(directory, { recursive: true }) };
}

const driver = { name: "embedded", open: openTemporary };

storeSuite(driver);
ownedSuite(driver);
restorableSuite(driver);
