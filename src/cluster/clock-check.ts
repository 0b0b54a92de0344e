/**
 * Checks the plausibility of the machine's clock without the network: neither this version nor the cluster's data can be from the future.
 * Otherwise a wrong clock shows only as certificates that are rejected.
 */
import { stat } from "node:fs/promises";
import { parsePemCertificates } from "../api/machinery/x509/certificate.ts";
import { joinPath, readWhole } from "../host/files/files.ts";
import type { HomePaths } from "./home/home-paths.ts";

/** Build time of this version. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);

/** Tolerance for NTP corrections, which set clocks back by seconds. */
const TOLERANCE_MS = 5 * 60_000;

export interface KnownTimes {
  readonly nowMs: number;
  /** Start of the CA's validity. */
  readonly authorityFromMs?: number | undefined;
  /** Time of the last write to the store. */
  readonly storeWrittenMs?: number | undefined;
}

export type ClockVerdict =
  | { readonly is: "possible" }
  /** The cluster cannot work. */
  | { readonly is: "wrong"; readonly why: string }
  /** The cluster works, but its timestamps will not be monotonic. */
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

/** Undefined if it does not exist or cannot be read: its user reports that. */
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
