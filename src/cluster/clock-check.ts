/**
 * Whether the machine's clock can be right, by what is known without asking anybody: this version was not built in the future, and what the
 * cluster wrote was not written in the future either. A clock that is wrong shows itself otherwise as certificates that nobody accepts.
 */
import { stat } from "node:fs/promises";
import { parsePemCertificates } from "../api/machinery/x509/certificate.ts";
import { joinPath, readWhole } from "../host/files/files.ts";
import type { HomePaths } from "./home/home-paths.ts";

/** When this version can have been run at the earliest. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);

/** Clocks that are corrected over the network go back by seconds; and what was written at a summer's end is not an hour ahead, since this is UTC. */
const TOLERANCE_MS = 5 * 60_000;

export interface KnownTimes {
  readonly nowMs: number;
  /** From when on the cluster's own authority is good. */
  readonly authorityFromMs?: number | undefined;
  /** When the store was last written. */
  readonly storeWrittenMs?: number | undefined;
}

export type ClockVerdict =
  | { readonly is: "possible" }
  /** Nothing would work. */
  | { readonly is: "wrong"; readonly why: string }
  /** It works, but times in the cluster will not be in their order. */
  | { readonly is: "doubtful"; readonly why: string };

export function judgeClock({ nowMs, authorityFromMs = 0, storeWrittenMs = 0 }: KnownTimes, directory: string): ClockVerdict {
  const now = `The clock of this machine is at ${timeText(nowMs)}`;
  const set = "set it (timedatectl set-ntp true, or date --set)";
  if (nowMs < EARLIEST_MS) return { is: "wrong", why: `${now}, before this version of k8ts was built; ${set}` };
  if (nowMs + TOLERANCE_MS < authorityFromMs) {
    const pki = joinPath(directory, "pki");
    return {
      is: "wrong",
      why: `${now}, but the cluster's certificates are valid from ${timeText(authorityFromMs)}; ${set}, or, if it was wrong when they were created, remove ${pki}`,
    };
  }
  if (nowMs + TOLERANCE_MS < storeWrittenMs)
    return {
      is: "doubtful",
      why: `${now}, but the cluster's data was last written at ${timeText(storeWrittenMs)}; if the clock is wrong, ${set}`,
    };
  return { is: "possible" };
}

export async function checkClock({ directory, pkiDirectory }: HomePaths, nowMs: number): Promise<ClockVerdict> {
  const [authorityFromMs, storeWrittenMs] = await Promise.all([
    authorityStart(joinPath(pkiDirectory, "ca.crt")),
    stat(joinPath(directory, "store.mdb")).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    ),
  ]);
  return judgeClock({ nowMs, authorityFromMs, storeWrittenMs }, directory);
}

/** Undefined if there is none yet, or none that can be read: who uses it will say so. */
async function authorityStart(path: string): Promise<number | undefined> {
  try {
    return parsePemCertificates(new TextDecoder().decode(await readWhole(path)))[0]?.fromMs;
  } catch {
    return undefined;
  }
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
