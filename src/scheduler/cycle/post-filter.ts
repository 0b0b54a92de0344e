/** Runs postFilter plugins for an unschedulable Pod, after decide.ts and before it is requeued. */
import type { PostFilterAnswer, WhatIf } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Profile } from "./profile.ts";

/** The first plugin that nominates a node ends the search; otherwise each may contribute to the message. */
export function askPostFilters(profile: Profile, pod: PodInfo, whatIf: WhatIf): PostFilterAnswer {
  const messages: string[] = [];
  let clearsNomination = false;
  const acts: ((signal: AbortSignal) => Promise<void>)[] = [];
  for (const plugin of profile.postFilter) {
    const answer = plugin.postFilter?.(pod, whatIf);
    if (answer === undefined) continue;
    if (answer.is === "nominated") return answer;
    if (answer.message !== "") messages.push(answer.message);
    clearsNomination ||= answer.clearsNomination;
    if (answer.act !== undefined) acts.push((signal) => answer.act?.(signal) ?? Promise.resolve());
    if (answer.isFinal === true) break;
  }
  // Without postFilter plugins an earlier nomination is useless, too.
  const none = { is: "none", message: messages.join(", "), clearsNomination: clearsNomination || profile.postFilter.length === 0 } as const;
  return acts.length === 0 ? none : { ...none, act: (signal) => inTurn(acts, signal) };
}

async function inTurn(acts: readonly ((signal: AbortSignal) => Promise<void>)[], signal: AbortSignal): Promise<void> {
  for (const act of acts) await act(signal);
}
