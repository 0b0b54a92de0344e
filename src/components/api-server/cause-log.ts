/**
 * Causes on disk, in the data directory of the embedded store, so that they survive a restart: one line per record
 * (cause-line.ts). Bounded to two files for commits and two for refused requests, so that a client that is refused in a loop displaces no
 * commits.
 */
import { readCauseLine } from "../../apiserver/storage/cause-line.ts";
import { CAUSES_MAX, REFUSALS_MAX, type RecordedCausesOptions } from "../../apiserver/storage/recorded-causes.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { StoreConfig } from "../../config/store-config.ts";
import { openBoundedLineLog, readLineLog } from "../../host/files/bounded-line-log.ts";
import { joinPath } from "../../host/files/files.ts";
import { realClock } from "../../host/real-clock.ts";
import type { Store } from "../../store/store.ts";

/** One file holds about as many records as memory; the older one is kept until it is full. */
const COMMITS_BYTES_MAX = 4 * 1024 * 1024;
const REFUSALS_BYTES_MAX = 1024 * 1024;

export type OpenedCauseLog = RecordedCausesOptions & AsyncDisposable;

/** Absent: the store has no directory, or time is virtual, and causes are lost with the process. */
export async function openCauseLog(config: StoreConfig, store: Store, clock: Clock): Promise<OpenedCauseLog | undefined> {
  if (config.driver !== "embedded" || clock !== realClock) return undefined;
  const path = joinPath(config.dataDirectory, "causes.jsonl");
  const refusalsPath = `${path}.refused`;
  const newest = await store.currentRevision();
  const lines = [...(await readLineLog(path)).slice(-CAUSES_MAX), ...(await readLineLog(refusalsPath)).slice(-REFUSALS_MAX)];
  // Records of revisions that the store does not have: it was restored from an older snapshot.
  const earlier = lines.flatMap(readCauseLine).filter(({ revision }) => revision <= newest);
  await using opening = new Disposables();
  const commits = opening.use(await openBoundedLineLog(path, { fileBytesMax: COMMITS_BYTES_MAX }));
  const refusals = opening.use(await openBoundedLineLog(refusalsPath, { fileBytesMax: REFUSALS_BYTES_MAX }));
  const owned = opening.move();
  return {
    earlier: earlier.toSorted((a, b) => a.id - b.id),
    log: { appendCommit: (line) => commits.append(line), appendRefusal: (line) => refusals.append(line) },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
