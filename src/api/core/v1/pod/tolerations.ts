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

export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  for (const toleration of tolerations) if (tolerates(toleration, taint)) return true;
  return false;
}

/** Whether a taint keeps a Pod away that does not tolerate it; one of "PreferNoSchedule" only asks it to go elsewhere. */
export function keepsPodsAway({ effect }: Taint): boolean {
  return effect === "NoSchedule" || effect === "NoExecute";
}

/** The first taint that keeps the Pod with these tolerations away. Called for every node: it makes nothing. */
export function untoleratedTaint(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined {
  for (const taint of taints) if (keepsPodsAway(taint) && !isTolerated(taint, tolerations)) return taint;
  return undefined;
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
