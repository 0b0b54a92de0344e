/** Tolerations of device taints. Pure. */
import type { DeviceTaint, DeviceToleration } from "../../../../api/generated/resource.k8s.io/v1.ts";

export function tolerates({ key = "", operator = "Equal", value = "", effect }: DeviceToleration, taint: DeviceTaint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return operator === "Equal" && value === (taint.value ?? "");
}
