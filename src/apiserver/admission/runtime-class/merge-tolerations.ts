/** Merges two lists of tolerations, without those covered by another one. */
import { deepEqual } from "../../../base/deep.ts";
import type { Toleration } from "../../../api/generated/core/v1.ts";

/** Keeps the order; of equal tolerations the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((other) => covers(other, toleration)) ||
      all.slice(index + 1).some((other) => !deepEqual(other, toleration) && covers(other, toleration));
    if (!isCovered) merged.push(toleration);
  }
  return merged;
}

/** True if `wide` tolerates everything that `narrow` does. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (deepEqual(wide, narrow)) return true;
  const { key = "", operator, value = "", effect } = wide;
  const isOfAnyKey = key === "" && operator === "Exists";
  if (key !== (narrow.key ?? "") && !isOfAnyKey) return false;
  if (effect && effect !== narrow.effect) return false;
  if (effect === "NoExecute" && !isAsLong(wide.tolerationSeconds, narrow.tolerationSeconds)) return false;
  if (operator === "Exists") return true;
  // As upstream, which does not treat a missing operator of the narrow one as Equal.
  return (!operator || operator === "Equal") && narrow.operator === "Equal" && (narrow.value ?? "") === value;
}

/** Absent: forever. */
function isAsLong(wideSeconds: number | undefined, narrowSeconds: number | undefined): boolean {
  return wideSeconds === undefined || (narrowSeconds !== undefined && narrowSeconds <= wideSeconds);
}
