/**
 * The answer of `k8ts why`, for its callers: the command, which also serves the dashboard, and a cluster in a browser tab. Reads the cluster,
 * explains the object, and tries remedies on copies. Nothing is changed in the cluster itself.
 */
import type { Client } from "../../client/client.ts";
import { escapeControls } from "../../base/text.ts";
import type { ClusterView, Subject } from "../why/cluster-view.ts";
import { explainView } from "../why/explain-view.ts";
import type { Explanation } from "../why/explainer.ts";
import { whyLines, type ShownRemedy, type WhyAnswer } from "../why/why-text.ts";
import { kubectlCommands } from "./kubectl-commands.ts";
import { readView } from "./read-view.ts";
import { tryRemedies, type CopyCluster } from "./try-remedies.ts";

export interface ExplainOptions {
  readonly client: Client;
  readonly nowMs: number;
  /** A revision or time: the state as it was, without remedies. Absent: now. */
  readonly at?: string | undefined;
  /** Absent: remedies are not tried. */
  readonly copyCluster?: CopyCluster | undefined;
}

/** Rejects if the object does not exist or cannot be read. */
export async function explainObject(subject: Subject, { client, nowMs, at, copyCluster }: ExplainOptions): Promise<WhyAnswer> {
  const view = await readView({ client, nowMs, at, namespace: subject.namespace });
  const explained = explainView(view, subject, at);
  if (!("explanation" in explained)) return explained.answer;
  const remedy = await remedyOf(view, subject, explained.explanation, at === undefined ? copyCluster : undefined);
  return { ...explained.answer, remedy };
}

async function remedyOf(
  view: ClusterView,
  subject: Subject,
  explanation: Explanation,
  copyCluster: CopyCluster | undefined,
): Promise<ShownRemedy> {
  if (explanation.remedies.length === 0) return { is: "none known" };
  if (copyCluster === undefined) return { is: "not tried" };
  if (!view.isWhole) return { is: "incomplete" };
  const trials = await tryRemedies(view, subject, explanation, copyCluster);
  if (trials.is !== "verified") return { is: trials.is };
  return { is: "verified", text: trials.remedy.text, commands: kubectlCommands(trials.remedy.changes) };
}

/** The answer as text for a terminal. */
export function answerLines(answer: WhyAnswer): readonly string[] {
  if (!answer.healthy) return whyLines(answer);
  return [answer.text, ...answer.unread.map((line) => `  not read: ${line}`)].map(escapeControls);
}
