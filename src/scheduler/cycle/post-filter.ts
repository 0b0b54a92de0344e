/** Asks whether anything can be done for a Pod that no node fits, after decide.ts and before it goes back to the queue. */
import type { PostFilterAnswer, WhatIf } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Profile } from "./profile.ts";

/** The first plugin that nominates a node ends the question; otherwise each may say a part of the message. */
export function askPostFilters(profile: Profile, pod: PodInfo, whatIf: WhatIf): PostFilterAnswer {
  const messages: string[] = [];
  let clearsNomination = false;
  for (const plugin of profile.postFilter) {
    const answer = plugin.postFilter?.(pod, whatIf);
    if (answer === undefined) continue;
    if (answer.is === "nominated") return answer;
    if (answer.message !== "") messages.push(answer.message);
    clearsNomination ||= answer.clearsNomination;
  }
  // Where nobody looks for room, what was nominated before is no use either.
  return { is: "none", message: messages.join(", "), clearsNomination: clearsNomination || profile.postFilter.length === 0 };
}
