/**
 * Which taints of a Node a Pod puts up with. Whoever places Pods and whoever removes them must read tolerations alike.
 * Not here: comparing values as numbers (Lt, Gt), which upstream has behind a gate that is off; as there, they tolerate nothing.
 */
import type { Taint, Toleration } from "../../../generated/core/v1.ts";

/** A toleration without an effect or a key is for all of them. */
export function tolerates({ key = "", operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (operator === "Equal" && value === (taint.value ?? ""));
}

/** For each taint the first toleration that covers it; undefined if one is not covered. */
export function tolerationsOf(taints: readonly Taint[], tolerations: readonly Toleration[]): readonly Toleration[] | undefined {
  const used: Toleration[] = [];
  for (const taint of taints) {
    const toleration = tolerations.find((candidate) => tolerates(candidate, taint));
    if (toleration === undefined) return undefined;
    used.push(toleration);
  }
  return used;
}
