/** The output of `k8ts why` as text: the chain of causes as a tree, the origin of the object, and what would change it. */
import { escapeControls } from "../../base/text.ts";
import type { CauseItem } from "../explain-api.ts";
import type { Finding } from "./explainer.ts";

/** The answer as `-o json` prints it and the dashboard shows it. */
export type WhyAnswer = HealthyAnswer | ShownWhy;

export interface HealthyAnswer {
  readonly healthy: true;
  readonly text: string;
  /** What could not be read, and why. */
  readonly unread: readonly string[];
}

export interface ShownWhy {
  readonly healthy: false;
  /** The known root causes. */
  readonly roots: readonly string[];
  readonly finding: Finding;
  /** The last recorded write of a user to the object. */
  readonly origin?: CauseItem;
  readonly remedy: ShownRemedy;
  readonly unread: readonly string[];
}

export type ShownRemedy =
  | { readonly is: "verified"; readonly text: string; readonly commands: readonly string[] }
  | { readonly is: "not reproduced" }
  | { readonly is: "none" }
  | { readonly is: "none known" }
  /** A part of the cluster could not be read: what works on a copy without it may not work there. */
  | { readonly is: "incomplete" }
  | { readonly is: "not tried" };

/** What is said instead of a remedy. */
export const REMEDY_TEXTS = {
  "not reproduced":
    "Remedies cannot be tried: a copy of the cluster with simulated nodes does not have this problem, so it depends on what only the containers and their machine know.",
  none: "No change is known that would end this: none that was tried did.",
  "none known": "No change is known that would end this.",
  incomplete: "Remedies were not tried: not all objects can be read, and a copy of the cluster without them proves nothing.",
  "not tried": "What would change it was not tried.",
} as const;

export const TRIED = "tried on a copy of the cluster: it works";

/** Messages of containers, events and webhooks, user names and user agents are text of others, and are escaped for the terminal. */
export function whyLines({ finding, origin, remedy, unread }: Omit<ShownWhy, "healthy" | "roots">): readonly string[] {
  return [
    ...treeLines(finding),
    ...(origin === undefined ? [] : ["", originLine(origin)]),
    "",
    ...(remedy.is === "verified"
      ? [`${remedy.text} (${TRIED}):`, ...remedy.commands.map((line) => `  ${line}`)]
      : [REMEDY_TEXTS[remedy.is]]),
    ...(unread.length === 0 ? [] : ["", "Not known, because it could not be read:", ...unread.map((line) => `  ${line}`)]),
  ].map(escapeControls);
}

export function originLine({ verb, user, userAgent, time, resourceVersion }: CauseItem): string {
  return `Last ${verb} by ${user} (${userAgent.split(" ")[0]}) at ${time}, revision ${resourceVersion ?? "unknown"}.`;
}

function treeLines({ text, because = [] }: Finding): readonly string[] {
  return [text, ...because.flatMap((finding, index) => branch(finding, index === because.length - 1))];
}

function branch(finding: Finding, isLast: boolean): readonly string[] {
  const [first = "", ...rest] = treeLines(finding);
  const mark = finding.isUnknown === true ? "unknown: " : "";
  return [`${isLast ? "└─" : "├─"} ${mark}${first}`, ...rest.map((line) => `${isLast ? "  " : "│ "} ${line}`)];
}
