/** Explains one object: the first explainer of its resource that recognizes the situation. Cycles of references end. */
import { all } from "./all.ts";
import { UnreadError, type ClusterView, type Seen, type Subject, type Unread } from "./cluster-view.ts";
import { nameOf, type ExplainContext, type Explanation } from "./explainer.ts";

/** "healthy": no explainer finds a problem. */
export type Why =
  | { readonly is: "explained"; readonly explanation: Explanation }
  | { readonly is: "healthy" }
  | { readonly is: "missing" }
  /** Whether the object exists is not known. */
  | { readonly is: "unread"; readonly message: string };

const NAMED = new Set(all.flatMap(({ resources }) => resources));

/** Longest chain of references that is followed: Ingress, Service, Deployment, Pod, claim, class, and as many again. */
const DEPTH_MAX = 12;

export function why(view: ClusterView, subject: Subject): Why {
  try {
    if (!isVirtual(subject) && view.get(subject) === undefined) return { is: "missing" };
  } catch (error) {
    return { is: "unread", message: unreadIn(error).message };
  }
  const explanation = contextOf(view, []).explain(subject);
  return explanation === undefined ? { is: "healthy" } : { is: "explained", explanation };
}

/** Names that no object stores: a name in DNS, a request. */
function isVirtual({ resource }: Subject): boolean {
  return resource === "dns" || resource === "requests";
}

function contextOf(view: ClusterView, path: readonly string[]): ExplainContext {
  return {
    view,
    explain(subject) {
      const name = `${subject.resource} ${subject.namespace}/${subject.name}`;
      if (path.includes(name) || path.length >= DEPTH_MAX) return undefined;
      try {
        return explained(subject, contextOf(view, [...path, name]));
      } catch (error) {
        return notExplained(subject, view, unreadIn(error));
      }
    },
  };
}

function explained(subject: Subject, context: ExplainContext): Explanation | undefined {
  const object = isVirtual(subject) ? subject : context.view.get(subject);
  if (object === undefined) return { finding: { text: `${nameOf(subject)} does not exist`, root: "NotFound" }, remedies: [] };
  const names = NAMED.has(subject.resource) ? ["*", subject.resource] : ["*", "others"];
  for (const { resources, explain } of all) {
    if (!names.some((name) => resources.includes(name))) continue;
    const explanation = explain(object, subject, context);
    if (explanation !== undefined) return explanation;
  }
  return undefined;
}

function unreadIn(error: unknown): Unread {
  if (!(error instanceof UnreadError)) throw error;
  return error.unread;
}

/** What the object itself reports, and what would have to be read for more. */
function notExplained(subject: Subject, view: ClusterView, { resource, message }: Unread): Explanation {
  const object = (view.objects.get(subject.resource) ?? []).find(
    ({ metadata }) => metadata.name === subject.name && (metadata.namespace ?? "") === subject.namespace,
  ) as Seen;
  const reported = ((object?.status?.conditions ?? []) as readonly Seen[])
    .filter((condition) => condition.status === "False" && condition.message)
    .map(({ type, reason, message: text }) => ({ text: `it reports ${type} False: ${[reason, text].filter(Boolean).join(": ")}` }));
  const unknown = { text: `${resource} could not be read: ${message}`, isUnknown: true } as const;
  return { finding: { text: `${nameOf(subject)} cannot be explained wholly`, because: [...reported, unknown] }, remedies: [] };
}

/** The known root causes of an explanation, in order. */
export function rootsOf({ finding }: Explanation): readonly string[] {
  const roots: string[] = [];
  const visit = (each: Explanation["finding"]): void => {
    if (each.root !== undefined) roots.push(each.root);
    each.because?.forEach(visit);
  };
  visit(finding);
  return roots;
}
