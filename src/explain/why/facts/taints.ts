/** Taints of nodes that keep Pods away. */
import type { Seen } from "../cluster-view.ts";

/** The taints of a node that a Pod with these tolerations does not tolerate, and that keep it away. */
export function untolerated(tolerations: readonly Seen[], node: Seen): readonly Seen[] {
  return (node.spec?.taints ?? []).filter(
    (taint: Seen) =>
      taint.effect !== "PreferNoSchedule" &&
      !tolerations.some(
        ({ key, operator = "Equal", value = "", effect }) =>
          (key === undefined || key === taint.key) &&
          (operator === "Exists" || value === (taint.value ?? "")) &&
          (effect === undefined || effect === taint.effect),
      ),
  );
}

/** Set by the node controller for what a node reports: not a decision of an administrator. */
export function isOfCondition({ key }: Seen): boolean {
  return String(key).startsWith("node.kubernetes.io/");
}

/** "team=a:NoSchedule, gpu:NoExecute", each once. */
export function taintNames(taints: readonly Seen[]): string {
  return [...new Set(taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`))].join(", ");
}

/** Tolerations of exactly these taints. */
export function tolerationsOf(taints: readonly Seen[]): readonly Seen[] {
  return taints.map(({ key, value, effect }) => ({
    key,
    operator: value ? "Equal" : "Exists",
    ...(value ? { value } : {}),
    effect,
  }));
}
