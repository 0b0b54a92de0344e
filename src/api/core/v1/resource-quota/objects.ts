/** Object count quota: any kind, as `count/<plural>.<group>`; some also by their legacy plain names. */
import type { Quantity } from "../../../machinery/quantity.ts";
import { ONE } from "./amounts.ts";
import { countName, type QuotaEvaluator } from "./evaluator.ts";

/** Kinds of the core group whose plural is a resource name. */
export const NAMED_BY_PLURAL: readonly string[] = ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];

export function objectEvaluator(group: string, plural: string): QuotaEvaluator {
  const hasPlainName = group === "" && NAMED_BY_PLURAL.includes(plural);
  const names = [countName(group, plural), ...(hasPlainName ? [plural] : [])];
  const usage: ReadonlyMap<string, Quantity> = new Map(names.map((name) => [name, ONE]));
  return {
    group,
    plural,
    handles: ({ operation, subresource }) => operation === "CREATE" && subresource === "",
    namesAmong: (hard) => [...hard].filter((name) => names.includes(name)),
    usageOf: () => usage,
  };
}
