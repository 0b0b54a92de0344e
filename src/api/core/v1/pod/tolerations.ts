/**
 * Matches tolerations of a Pod with taints of a Node. The scheduler and the taint manager must interpret them alike. Not here: numeric
 * comparison (Lt, Gt), which is behind a feature gate that is off upstream; as there, they tolerate nothing.
 */
import type { Taint, Toleration } from "../../../generated/core/v1.ts";

/** A toleration without an effect or a key matches all of them. */
export function tolerates({ key = "", operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (operator === "Equal" && value === (taint.value ?? ""));
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  for (const toleration of tolerations) if (tolerates(toleration, taint)) return true;
  return false;
}

/** True for NoSchedule and NoExecute; "PreferNoSchedule" is only a preference. */
export function keepsPodsAway({ effect }: Taint): boolean {
  return effect === "NoSchedule" || effect === "NoExecute";
}

/** The first taint that repels a Pod with these tolerations. Hot path (called per node): must not allocate. */
export function untoleratedTaint(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined {
  for (const taint of taints) if (keepsPodsAway(taint) && !isTolerated(taint, tolerations)) return taint;
  return undefined;
}

/** For each taint the first toleration that matches it; undefined if one has none. */
export function tolerationsOf(taints: readonly Taint[], tolerations: readonly Toleration[]): readonly Toleration[] | undefined {
  const used: Toleration[] = [];
  for (const taint of taints) {
    const toleration = tolerations.find((candidate) => tolerates(candidate, taint));
    if (toleration === undefined) return undefined;
    used.push(toleration);
  }
  return used;
}
