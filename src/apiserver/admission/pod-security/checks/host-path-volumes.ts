/** Pods must not mount hostPath volumes. */
import { plural, quoted, type Check, type CheckedPod, type Violation } from "../check.ts";

export const hostPathVolumes: Check = { id: "hostPathVolumes", level: "baseline", versions: [{ since: 0, judge }] };

function judge({ spec: { volumes = [] } }: CheckedPod): Violation | undefined {
  const bad = volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  return bad.length === 0 ? undefined : { reason: "hostPath volumes", detail: `${plural("volume", bad.length)} ${quoted(bad)}` };
}
