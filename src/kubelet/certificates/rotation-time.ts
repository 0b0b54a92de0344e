/** When a kubelet renews its certificates: as upstream, at a random instant between 70 and 90 % of the lifetime, so that nodes that joined together do not all request at once. Pure. */
import type { Validity } from "../../api/machinery/x509/validity.ts";
import type { Random } from "../../base/random.ts";

const ROTATE_AFTER = 0.7;
const JITTER = 0.2;

export function rotationTimeMs({ fromMs, toMs }: Validity, random: Random): number {
  return fromMs + (toMs - fromMs) * (ROTATE_AFTER + JITTER * random.fraction());
}
