/** A few plugins with upstream's names that declare their extension points and do nothing. */
import { describeFieldError, invalid } from "../../../api/machinery/field-error.ts";
import type { Plugin, PluginContext, PluginFactory } from "../../framework/plugin.ts";
import type { PluginCatalog } from "../scheduler-configuration.ts";

function factory(name: string, parts: Omit<Plugin, "name">): PluginFactory {
  return { name, make: () => ({ name, ...parts }) };
}

const filter = (): undefined => undefined;
const score = (): number => 0;

export interface AffinityArguments {
  readonly hardPodAffinityWeight: number;
}

/** With arguments, which the plugin exposes as its state. */
const interPodAffinity: PluginFactory<AffinityArguments> = {
  name: "InterPodAffinity",
  readArguments: (written) => {
    const { hardPodAffinityWeight = 1, apiVersion: _apiVersion, kind: _kind, ...unknown } = (written ?? {}) as Record<string, unknown>;
    const problems = Object.keys(unknown).map((name) => `unknown field "${name}"`);
    if (Number(hardPodAffinityWeight) > 100)
      problems.push(describeFieldError(invalid("hardPodAffinityWeight", hardPodAffinityWeight, "not in valid range [0, 100]")));
    if (problems.length > 0) return { ok: false, problems };
    return { ok: true, arguments: { hardPodAffinityWeight: Number(hardPodAffinityWeight) } };
  },
  make: (_context, args) => ({ name: "InterPodAffinity", preFilter: () => ({ is: "ready", state: args }), filter, score }),
};

export const catalog: PluginCatalog = {
  defaults: [
    { factory: factory("PrioritySort", { compare: () => 0 }) },
    { factory: factory("NodeName", { filter }) },
    { factory: factory("TaintToleration", { filter, score }), weight: 3 },
    { factory: interPodAffinity, weight: 2 },
    { factory: factory("ImageLocality", { score }), weight: 1 },
    { factory: factory("DefaultBinder", { bind: () => Promise.resolve(true) }) },
  ],
  others: [
    factory("OtherSort", { compare: () => 0 }),
    factory("Holds", { unreserve: () => {} }),
    factory("Custom", { preFilter: () => ({ is: "skip" }), filter, score }),
  ],
};

/** None of these plugins looks at it. */
export const noContext = {} as PluginContext;
