/** Runs postFilter plugins for an unschedulable Pod, after decide.ts and before it is requeued. */
import type { PostFilterAnswer, WhatIf } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Profile } from "./profile.ts";

/** The first plugin that nominates a node ends the search; otherwise each may contribute to the message. */
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
  // Without postFilter plugins an earlier nomination is useless, too.
  return { is: "none", message: messages.join(", "), clearsNomination: clearsNomination || profile.postFilter.length === 0 };
}
