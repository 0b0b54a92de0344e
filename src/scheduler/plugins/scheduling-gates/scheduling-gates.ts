/** SchedulingGates: a Pod with scheduling gates is not attempted. The owner of a gate removes it when the Pod is ready to be scheduled. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Plugin, PluginFactory, Rejection } from "../../framework/plugin.ts";

const plugin: Plugin = {
  name: "SchedulingGates",

  retryOn: [{ of: "waiting-pod", changes: ["ungated"] }],

  preEnqueue({ spec }: Pod): Rejection | undefined {
    const gates = spec?.schedulingGates ?? [];
    if (gates.length === 0) return undefined;
    // As Go prints a list.
    const names = gates.map(({ name }) => name).join(" ");
    return { reasons: [`waiting for scheduling gates: [${names}]`], resolvable: false };
  },
};

export const schedulingGates: PluginFactory = {
  name: plugin.name,
  make: () => plugin,
};
