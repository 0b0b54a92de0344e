/**
 * The ConfigMap kube-system/kube-apiserver-legacy-service-account-token-tracking: since which day the server notes on Secrets that their
 * tokens were used (authentication/service-account-token/last-use.ts), so that whoever cleans up knows what the lack of a note means.
 * The first day stays.
 */
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { BootstrapStep } from "./bootstrap.ts";

const PLACE = { group: "", version: "v1", plural: "configmaps", namespace: "kube-system" };
const NAME = "kube-apiserver-legacy-service-account-token-tracking";

export const legacyTokenTracking: BootstrapStep = {
  hook: "start-legacy-token-tracking-controller",
  async make({ server: { clock, identity }, requests }) {
    if (identity.serviceAccounts === undefined) return;
    const [since = ""] = formatTime(clock.now()).split("T");
    const map: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: NAME }, data: { since } };
    await requests.make(PLACE, map);
  },
  keeps: [{ ...PLACE, name: NAME }],
};
