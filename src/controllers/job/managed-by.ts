/** A Job with `managedBy` belongs to another controller: this one leaves it and its Pods alone. */
import type { Job } from "../../api/generated/batch/v1.ts";

/** The value that means this controller. */
const THIS_CONTROLLER = "kubernetes.io/job-controller";

export function isManagedElsewhere({ spec }: Job): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== THIS_CONTROLLER;
}
