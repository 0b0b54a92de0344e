/**
 * The ConfigMap kube-system/kube-apiserver-legacy-service-account-token-tracking: the date since which the server records the use of tokens
 * on Secrets (authentication/service-account-token/last-use.ts), so that the cleaner can interpret a missing record. The first date is
 * kept.
 */
import { TOKEN_TRACKING_CONFIG_MAP } from "../../api/core/v1/secret/service-account-token.ts";
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { BootstrapStep } from "./bootstrap.ts";

const PLACE = { group: "", version: "v1", plural: "configmaps", namespace: "kube-system" };

export const legacyTokenTracking: BootstrapStep = {
  hook: "start-legacy-token-tracking-controller",
  async make({ server: { clock, identity }, requests }) {
    if (identity.serviceAccounts === undefined) return;
    const [since = ""] = formatTime(clock.now()).split("T");
    const map: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: TOKEN_TRACKING_CONFIG_MAP }, data: { since } };
    await requests.make(PLACE, map);
  },
  keeps: [{ ...PLACE, name: TOKEN_TRACKING_CONFIG_MAP }],
};
