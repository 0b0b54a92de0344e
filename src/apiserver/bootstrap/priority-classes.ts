/** The two PriorityClasses of critical system components. */
import { builtInPriorityClasses } from "../../api/scheduling.k8s.io/v1/built-in.ts";
import type { BootstrapStep } from "./bootstrap.ts";

const PLACE = { group: "scheduling.k8s.io", version: "v1", plural: "priorityclasses", namespace: "" };

export const priorityClasses: BootstrapStep = {
  hook: "scheduling/bootstrap-system-priority-classes",
  async make({ requests }) {
    for (const object of builtInPriorityClasses) await requests.make(PLACE, object);
  },
  keeps: builtInPriorityClasses.map(({ metadata: { name } }) => ({ ...PLACE, name })),
};
