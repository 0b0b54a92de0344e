/** Explains one object: the first explainer of its resource that recognizes the situation. Cycles of references end. */
import { all } from "./all.ts";
import type { ClusterView, Subject } from "./cluster-view.ts";
import { nameOf, type ExplainContext, type Explanation } from "./explainer.ts";

/** "healthy": no explainer finds a problem. */
export type Why = { readonly is: "explained"; readonly explanation: Explanation } | { readonly is: "healthy" } | { readonly is: "missing" };

/** Longest chain of references that is followed: Ingress, Service, Deployment, Pod, claim, class, and as many again. */
const DEPTH_MAX = 12;

export function why(view: ClusterView, subject: Subject): Why {
  if (!isVirtual(subject) && view.get(subject) === undefined) return { is: "missing" };
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
      const object = isVirtual(subject) ? subject : view.get(subject);
      if (object === undefined) return { finding: { text: `${nameOf(subject)} does not exist`, root: "NotFound" }, remedies: [] };
      const context = contextOf(view, [...path, name]);
      for (const { resources, explain } of all) {
        if (!resources.includes("*") && !resources.includes(subject.resource)) continue;
        const explanation = explain(object, subject, context);
        if (explanation !== undefined) return explanation;
      }
      return undefined;
    },
  };
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
