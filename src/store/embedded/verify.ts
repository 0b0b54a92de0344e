/** Full verification: every head against its record, every value against its checksum, every count against what it counts. */
import type { Disk } from "./disk.ts";
import { damaged, positionOf, revisionOf } from "./records.ts";

/** Throws "Damaged" at the first mismatch. Takes as long as reading the whole file. */
export function verify(disk: Disk): void {
  const revision = disk.newest()?.revision ?? 0;
  try {
    verifyHeads(disk);
    disk.visitLog({ from: 0, before: positionOf(Number.MAX_SAFE_INTEGER / 1_024, 0) }, (position, { key }) => {
      disk.value(position, key);
      if (revisionOf(position) > revision) throw damaged(`revision ${revisionOf(position)} is newer than the newest, ${revision}`);
      return true;
    });
  } catch (error) {
    throw (error as { reason?: string }).reason === "Damaged" ? error : damaged("a part of the file cannot be read", error);
  }
}

function verifyHeads(disk: Disk): void {
  const compacted = disk.meta("compacted") ?? 0;
  let keys = 0;
  disk.visitHeads({ from: new Uint8Array(0) }, (key, { position, deleted }) => {
    const record = disk.record(position);
    // Cleaning removes a deletion and its head together, unless the key was just being written again.
    const cleanedAway = deleted && record === undefined && revisionOf(position) <= compacted;
    if (!cleanedAway && (record === undefined || record.key !== key || record.deleted !== deleted)) {
      throw damaged(`the index and the log disagree about ${key}`);
    }
    keys += deleted ? 0 : 1;
    return true;
  });
  const expected = disk.newest()?.keys;
  if (keys !== expected) throw damaged(`there are ${keys} keys where there should be ${expected}`);
}
