/** The two PriorityClasses of what keeps the cluster itself running. */
import { builtInPriorityClasses } from "../../api/scheduling.k8s.io/v1/built-in.ts";
import type { BootstrapStep } from "./bootstrap.ts";

export const priorityClasses: BootstrapStep = async ({ requests }) => {
  const place = { group: "scheduling.k8s.io", version: "v1", plural: "priorityclasses", namespace: "" };
  for (const object of builtInPriorityClasses) await requests.make(place, object);
};
