/** For admission of Pods while no enforcer runs: a Pod that no policy selects needs none. */
import type { Pod } from "../api/generated/core/v1.ts";
import type { NetworkPolicy } from "../api/generated/networking.k8s.io/v1.ts";
import { labelSelectorFromObject } from "../api/machinery/selectors/label-selector.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { networkPolicies } from "../api/networking.k8s.io/v1/network-policy.ts";
import type { Clock } from "../base/clock.ts";
import { createClient } from "../client/rest-client.ts";

/** The kubelet waits for the answer with the start of a container, and retries. */
const REQUEST_TIMEOUT_MS = 5_000;

/** Names a policy that selects the Pod; undefined if none does. Rejects if the API server does not answer: then it is not known. */
export async function selectingPolicy(
  pod: Pod,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
): Promise<string | undefined> {
  const { namespace = "", labels = {} } = pod.metadata;
  if (pod.spec?.hostNetwork === true) return undefined;
  const limit = new AbortController();
  const timer = clock.sleep(REQUEST_TIMEOUT_MS, limit.signal).then(
    () => limit.abort(new Error(`no answer within ${REQUEST_TIMEOUT_MS / 1_000} s`)),
    () => {}, // Answered.
  );
  try {
    const { items } = await createClient(transport).list(networkPolicies, { namespace, signal: limit.signal });
    const policy = items.find((one) => isSelected(labels, one));
    return policy === undefined ? undefined : `NetworkPolicy ${namespace}/${policy.metadata.name} selects the Pod`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot determine whether a NetworkPolicy selects the Pod: ${reason}`, { cause: error });
  } finally {
    limit.abort();
    await timer;
  }
}

function isSelected(labels: Readonly<Record<string, string>>, { spec }: NetworkPolicy): boolean {
  return labelSelectorFromObject(spec?.podSelector ?? {}).matches(labels);
}
