/** Pod name as in upstream's messages: "web-0_default(8d5c…)". No other name has an underscore, so it can be searched for in logs. */
import type { Pod } from "../../api/generated/core/v1.ts";

export function describePod({ metadata: { name, namespace = "", uid = "" } }: Pod): string {
  return `${name}_${namespace}(${uid})`;
}
