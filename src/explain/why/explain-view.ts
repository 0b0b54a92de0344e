/** The answer to "why?" from a view of the cluster, without a remedy. Pure. */
import { StatusError } from "../../api/machinery/status-error.ts";
import type { ClusterView, Subject, Unread } from "./cluster-view.ts";
import { nameOf, type Explanation } from "./explainer.ts";
import type { HealthyAnswer, ShownWhy } from "./why-text.ts";
import { rootsOf, why } from "./why.ts";

/** `explanation`: of what is wrong, with remedies that can be tried. */
export type ViewAnswer =
  | { readonly answer: HealthyAnswer }
  | { readonly answer: Omit<ShownWhy, "remedy">; readonly explanation: Explanation };

/** Throws if the object does not exist or could not be read. `at`: the instant of the view, for the message. */
export function explainView(view: ClusterView, subject: Subject, at?: string): ViewAnswer {
  const result = why(view, subject);
  if (result.is === "unread") throw new StatusError("Forbidden", `Cannot explain ${nameOf(subject)}: ${result.message}`);
  if (result.is === "missing")
    throw new StatusError("NotFound", `Cannot explain ${nameOf(subject)}: it does not exist${at === undefined ? "" : ` at ${at}`}`);
  const unread = unreadLines(view.unread);
  if (result.is === "healthy")
    return { answer: { healthy: true, text: `Nothing is wrong with ${nameOf(subject)} as far as it is known`, unread } };
  const { explanation } = result;
  const origin = view.origin(subject);
  const { finding } = explanation;
  const answer = { healthy: false, roots: rootsOf(explanation), finding, ...(origin === undefined ? {} : { origin }), unread } as const;
  return { answer, explanation };
}

/** One line for everything that the user may not read, which may be most of the cluster. */
function unreadLines(unread: readonly Unread[]): readonly string[] {
  const forbidden = unread.filter(({ isForbidden }) => isForbidden).map(({ resource }) => resource);
  const failed = unread.filter(({ isForbidden }) => !isForbidden).map(({ resource, message }) => `${resource}: ${message}`);
  return [...(forbidden.length === 0 ? [] : [`no permission in all namespaces: ${forbidden.join(", ")}`]), ...failed];
}
