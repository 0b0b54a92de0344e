/**
 * Reserve and permit, the last steps before binding. Plugins that reserved are unreserved on failure. A rejection here concerns this one
 * node, and is reported as if it were the only one, as upstream.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { durationOfMs, formatDuration } from "../../api/machinery/duration.ts";
import type { PermitAnswer, Plugin, Rejection } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Diagnosis } from "./decide.ts";
import type { Profile } from "./profile.ts";

/** A rejection with its plugin. */
export interface Refusal {
  readonly plugin: string;
  readonly rejection: Rejection;
}

/** Both steps. If one rejects or throws, nothing stays reserved. */
export function reserveAndPermit(profile: Profile, pod: PodInfo, nodeName: string, log: Logger): PermitResult {
  const refusal = reserve(profile, pod, nodeName, log);
  if (refusal !== undefined) return { is: "rejected", refusal };
  let answer: PermitResult | undefined;
  try {
    answer = permit(profile, pod, nodeName);
    return answer;
  } finally {
    if (answer === undefined || answer.is === "rejected") unreserve(profile, pod, nodeName, log);
  }
}

/** Undefined: all plugins have reserved. Otherwise, or if one throws, those called have been unreserved. */
export function reserve(profile: Profile, pod: PodInfo, nodeName: string, log: Logger): Refusal | undefined {
  const asked: Plugin[] = [];
  let isReserved = false;
  try {
    for (const plugin of profile.reserve) {
      asked.push(plugin);
      const rejection = plugin.reserve?.(pod, nodeName);
      if (rejection !== undefined) return { plugin: plugin.name, rejection };
    }
    isReserved = true;
    return undefined;
  } finally {
    if (!isReserved) takeBack(asked, pod, nodeName, log);
  }
}

/** After a successful `reserve`: the Pod is not placed there after all. Never throws. */
export function unreserve(profile: Profile, pod: PodInfo, nodeName: string, log: Logger): void {
  takeBack(profile.reserve, pod, nodeName, log);
}

/** A plugin that throws violates its contract; the others are called nevertheless. */
function takeBack(asked: readonly Plugin[], pod: PodInfo, nodeName: string, log: Logger): void {
  for (const plugin of asked.toReversed()) {
    try {
      plugin.unreserve?.(pod, nodeName);
    } catch (error) {
      log.error("Unreserve of a plugin failed", { plugin: plugin.name, pod: pod.key, node: nodeName, error });
    }
  }
}

/** Plugins that delay the Pod. */
export interface PermitWait {
  readonly plugin: string;
  readonly timeoutMs: number;
  readonly decision: Promise<"allowed" | Rejection>;
}

export type PermitResult =
  | { readonly is: "allowed" }
  | { readonly is: "rejected"; readonly refusal: Refusal }
  | { readonly is: "wait"; readonly waits: readonly PermitWait[] };

/** Maximum permit wait, whatever a plugin requests: the reservation is unavailable to others meanwhile. */
const PERMIT_TIMEOUT_MAX_MS = 15 * 60_000;

/** One rejection suffices; otherwise all delaying plugins must allow it. */
export function permit(profile: Profile, pod: PodInfo, nodeName: string): PermitResult {
  const waits: PermitWait[] = [];
  for (const plugin of profile.permit) {
    const answer: PermitAnswer = plugin.permit?.(pod, nodeName) ?? { is: "allowed" };
    if (answer.is === "rejected") return { is: "rejected", refusal: { plugin: plugin.name, rejection: answer.rejection } };
    if (answer.is !== "wait") continue;
    waits.push({ plugin: plugin.name, timeoutMs: Math.min(answer.timeoutMs, PERMIT_TIMEOUT_MAX_MS), decision: answer.decision });
  }
  return waits.length === 0 ? { is: "allowed" } : { is: "wait", waits };
}

/** Resolves when all allow the Pod (undefined), with the first rejection, or on timeout. Rejects when `signal` is aborted. */
export async function waitOnPermit(waits: readonly PermitWait[], clock: Clock, signal: AbortSignal): Promise<Refusal | undefined> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    return await firstRefusal(waits.map((wait) => waitOnOne(wait, clock, either)));
  } finally {
    over.abort();
  }
}

async function waitOnOne({ plugin, timeoutMs, decision }: PermitWait, clock: Clock, signal: AbortSignal): Promise<Refusal | undefined> {
  const answer = await Promise.race([decision, clock.sleep(timeoutMs, signal).then(() => tooLong(plugin, timeoutMs))]);
  return answer === "allowed" ? undefined : { plugin, rejection: answer };
}

function firstRefusal(answers: readonly Promise<Refusal | undefined>[]): Promise<Refusal | undefined> {
  return new Promise((resolve, reject) => {
    for (const answer of answers) {
      answer.then((refusal) => {
        if (refusal !== undefined) resolve(refusal);
      }, reject);
    }
    Promise.all(answers).then(() => resolve(undefined), reject);
  });
}

function tooLong(plugin: string, timeoutMs: number): Rejection {
  const reason = `rejected due to timeout after waiting ${formatDuration(durationOfMs(timeoutMs))} at plugin ${plugin}`;
  return { reasons: [reason], resolvable: true };
}

/** What is reported and recorded when reserve or permit rejects. */
export function diagnosisOf({ plugin, rejection }: Refusal, nodeName: string): Diagnosis {
  const refused = rejection.reasons.map((reason) => ({ plugin, reason, nodes: 1, examples: [nodeName] }));
  return { nodeCount: 1, preFilterMessage: "", refused, unschedulablePlugins: new Set([plugin]) };
}
