/** What the user may do in a namespace, as the server reviews it: with all authorizers that can list their rules. */
import { h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PolicyRule } from "../../../data/rbac/who-can.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import { SmallTable } from "../../parts/small-table.ts";
import type { ViewProps } from "../view.ts";

interface RulesReview {
  readonly status?: {
    readonly resourceRules?: readonly PolicyRule[];
    readonly nonResourceRules?: readonly PolicyRule[];
    readonly incomplete?: boolean;
    readonly evaluationError?: string;
  };
}

export function MyRules({ context: { api }, route }: ViewProps): JSX.Element {
  const namespace = route.query["ns"] || "default";
  const [review, setReview] = useState<RulesReview | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    setReview(undefined);
    setError(undefined);
    api
      .post<RulesReview>("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectRulesReview",
        spec: { namespace },
      })
      .then(
        (found) => {
          if (isCurrent) setReview(found);
        },
        (problem: unknown) => {
          if (isCurrent) setError(problem as Error);
        },
      );
    return () => void (isCurrent = false);
  }, [api, namespace]);
  if (error !== undefined) return h(ErrorNote, { error });
  if (review === undefined) return h(Waiting, { what: "your permissions" });
  const { resourceRules = [], nonResourceRules = [], incomplete = false, evaluationError } = review.status ?? {};
  const list = (values: readonly string[] | undefined) => (values ?? []).map((value) => (value === "" ? '""' : value)).join(", ");
  return h(
    "div",
    null,
    incomplete ? h(Empty, { text: `The list is incomplete${evaluationError === undefined ? "" : `: ${evaluationError}`}.` }) : null,
    h(SmallTable, {
      title: `What I can do in namespace ${namespace}`,
      heads: ["Verbs", "Resources", "API groups", "Only objects"],
      rows: resourceRules.map((rule) => [list(rule.verbs), list(rule.resources), list(rule.apiGroups), list(rule.resourceNames)]),
    }),
    h(SmallTable, {
      title: "Paths that I can request",
      heads: ["Verbs", "Paths"],
      rows: nonResourceRules.map((rule) => [list(rule.verbs), list(rule.nonResourceURLs)]),
    }),
  );
}
